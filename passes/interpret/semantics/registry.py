"""The registry of semantics: for each op class, the function that creates an instruction's record.

Semantics are registered from outside the op class with `@semantics`. Each is a function from a
`Binding` (the properties of one instruction that are known before a run) to a record.
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
    """Register the function that creates the records of instructions of these classes.

    Instructions of the same form (`StepForms`) share a record. If the record depends on earlier
    instructions as well, `history` returns that dependence as a value. It is called for each
    instruction in program order, and its result is `Binding.history`; instructions share a record
    only if their forms and histories are equal.
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
    """Import the semantics when the first instruction is bound: the import is slow."""
    import_module("nkijit.passes.interpret.semantics.nisa")


def history_of(op: NisaOp, slots: Slots) -> object:
    """Return the part of the semantics that depends on earlier instructions, or None."""
    _register_all()
    history = _HISTORIES.get(type(op))
    return None if history is None else history(op, slots)


def record_of(binding: Binding) -> Record:
    """Return the record (description of the computation) of an instruction."""
    _register_all()
    function = _SEMANTICS.get(type(binding.op))
    if function is None:
        raise failure(binding.op, "it cannot be interpreted")
    return function(binding)
