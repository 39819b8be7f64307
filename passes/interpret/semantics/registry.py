"""Which function says what an instruction computes.

Semantics attach to op classes from outside: a function per op, registered with `@semantics`,
takes a `Binding` (what is known of one instruction before any data) and returns a record.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TypeVar

from nkijit.dialects.declare.operation import NisaOp
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Slots
from nkijit.passes.interpret.records.errors import failure
from nkijit.passes.interpret.records.records import Record

Semantics = Callable[[Binding], Record]
History = Callable[[NisaOp, Slots], object]
_SEMANTICS: dict[type[NisaOp], Semantics] = {}
_HISTORIES: dict[type[NisaOp], History] = {}
_S = TypeVar("_S", bound=Semantics)


def semantics(*op_classes: type[NisaOp], history: History | None = None) -> Callable[[_S], _S]:
    """Register the function that says what instructions of these classes compute.

    What a record depends on besides the instruction's form (`forms.Forms`) is what `history`
    says. It is called for each instruction, in their order; the function has the result as
    `Binding.history`, once for all instructions that agree in both.
    """

    def register(function: _S) -> _S:
        for op_class in op_classes:
            if op_class in _SEMANTICS:
                raise ValueError(f"{op_class.name} has semantics already")
            _SEMANTICS[op_class] = function
            if history is not None:
                _HISTORIES[op_class] = history
        return function

    return register


@cache
def _register_all() -> None:
    """Import what instructions compute: not before one is bound, for it takes time."""
    import_module("nkijit.passes.interpret.semantics.nisa")


def history_of(op: NisaOp, slots: Slots) -> object:
    """What the instructions before it say about an instruction; None for most."""
    _register_all()
    history = _HISTORIES.get(type(op))
    return None if history is None else history(op, slots)


def record_of(binding: Binding) -> Record:
    """What an instruction computes."""
    _register_all()
    function = _SEMANTICS.get(type(binding.op))
    if function is None:
        raise failure(binding.op, "it cannot be interpreted")
    return function(binding)
