"""Operands and results by name, as attributes of operations.

xDSL's own accessors find out with each use which kind of value they are about. Passes ask for
operands of every instruction many times.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar

from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.irdl.operations import BeforeVariadicSingleAccessor, VarIRConstruct

_ClassT = TypeVar("_ClassT", bound=type[IRDLOperation])

value_at: Callable[[Any, int], Any] = tuple[SSAValue, ...].__getitem__
"""The value at a position of operands or results: what `[]` of xDSL's tuples is for slices, too."""

operand_tuple: Callable[[Operation], tuple[SSAValue, ...]] = attrgetter("_operands")
"""The operands of an operation; xDSL's `operands` makes an object that can replace them."""


def with_direct_accessors(op_class: _ClassT) -> _ClassT:
    """A class of operations whose operands and results in front of lists are at fixed positions.

    Its operations are keys by identity, as all are, without a call in Python.
    """
    op_class.__hash__ = object.__hash__
    for name, accessor in list(vars(op_class).items()):
        if isinstance(accessor, BeforeVariadicSingleAccessor):
            if accessor.construct is VarIRConstruct.OPERAND:
                setattr(op_class, name, property(_operand(accessor.idx)))
            elif accessor.construct is VarIRConstruct.RESULT:
                setattr(op_class, name, property(_result(accessor.idx)))
    return op_class


def _operand(position: int) -> Callable[[Operation], SSAValue]:
    def operand(op: Operation) -> SSAValue:
        return value_at(op._operands, position)  # pyright: ignore[reportPrivateUsage]

    return operand


def _result(position: int) -> Callable[[Operation], OpResult]:
    def result(op: Operation) -> OpResult:
        return value_at(op.results, position)

    return result
