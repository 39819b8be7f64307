"""Fast access to operands and results by name, as attributes of operations.

xDSL's accessors look up the definition of the operand at each use. Passes read operands of every
instruction many times.
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
"""Return the value at a position of operands or results.

Faster than xDSL's `[]`, which also supports slices.
"""

operand_tuple: Callable[[Operation], tuple[SSAValue, ...]] = attrgetter("_operands")
"""Return the operands of an operation as a tuple.

Faster than xDSL's `operands`, which creates an object that can replace them.
"""


def with_direct_accessors(op_class: _ClassT) -> _ClassT:
    """Replace the accessors of operands and results at fixed positions, which precede any list.

    Operations also hash by identity, like xDSL's, but without a call of a Python function.
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
