"""Which function says what an instruction computes.

Semantics attach to op classes from outside: a function per op, registered with `@semantics`,
takes a `Binding` (what is known of one instruction before any data) and returns a record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from nkijit.dialects.declare.operation import NisaOp
from nkijit.passes.interpret.binding import Binding
from nkijit.passes.interpret.errors import failure
from nkijit.passes.interpret.records import Record

Semantics = Callable[[Binding], Record]
_SEMANTICS: dict[type[NisaOp], Semantics] = {}
_S = TypeVar("_S", bound=Semantics)


def semantics(*op_classes: type[NisaOp]) -> Callable[[_S], _S]:
    """Register the function that says what instructions of these classes compute."""

    def register(function: _S) -> _S:
        for op_class in op_classes:
            if op_class in _SEMANTICS:
                raise ValueError(f"{op_class.name} has semantics already")
            _SEMANTICS[op_class] = function
        return function

    return register


def record_of(binding: Binding) -> Record:
    """What an instruction computes."""
    function = _SEMANTICS.get(type(binding.op))
    if function is None:
        raise failure(binding.op, "it cannot be interpreted")
    return function(binding)
