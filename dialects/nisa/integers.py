"""Arithmetic of instructions on 32-bit integers: in float32, or exact.

The Vector Engine, the Scalar Engine and the DMA engines convert integers to float32, which holds
every integer up to 2**24 only. nisa.tensor_tensor on the GpSimd Engine computes in integers.
Sources: NKI API reference, nki.isa.tensor_tensor, tensor_scalar, tensor_reduce, dma_compute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.operation import NisaOp, scalar_constant
from nkijit.dialects.declare.queries import alu_of, engine_of
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.nisa.elementwise import (
    INT32,
    ScalarTensorTensorOp,
    TensorScalarOp,
    TensorScalarReduceOp,
    TensorTensorOp,
    native_int32,
)
from nkijit.dialects.nisa.movement import DmaComputeOp
from nkijit.dialects.nisa.reduce import TensorReduceOp
from nkijit.dialects.operators import AluKind
from nkijit.dialects.tiles import info_of, is_tile

INEXACT = ("add", "subtract", "multiply")
"""Operators of integers whose results can be too large for float32."""


class IntegerStep(NamedTuple):
    """An operator that is applied to a value, as in `value op other`."""

    word: str
    other: SSAValue | None
    """A tile or a number; None for an operator of one operand."""
    reverse: bool = False
    """True for `other op value`."""


class IntegerArithmetic(NamedTuple):
    """The operators that an instruction applies to integers."""

    first: SSAValue
    steps: tuple[IntegerStep, ...]
    is_exact: bool
    """True if the instruction computes in integers, which wrap around at 32 bits."""
    reduced: str | None = None
    """The operator that combines `terms` elements into one, if any."""
    terms: int = 1

    @property
    def operands(self) -> Iterator[SSAValue]:
        """The tiles and numbers that the instruction computes on."""
        yield self.first
        for step in self.steps:
            if step.other is not None:
                yield step.other

    @property
    def words(self) -> list[str]:
        """The operators, in order."""
        reduced = [] if self.reduced is None else [self.reduced]
        return [*(step.word for step in self.steps), *reduced]

    @property
    def rounds(self) -> bool:
        """True if a result can be rounded: float32 arithmetic with an operator in `INEXACT`."""
        return not self.is_exact and any(word in INEXACT for word in self.words)


COMPUTING: frozenset[type[Operation]] = frozenset(
    (
        TensorTensorOp,
        TensorScalarOp,
        ScalarTensorTensorOp,
        TensorScalarReduceOp,
        TensorReduceOp,
        DmaComputeOp,
    )
)
"""The instructions that compute integers from integers. Their first operand is the result."""


def integer_arithmetic(op: NisaOp, target: Target) -> IntegerArithmetic | None:
    """Return the arithmetic of an instruction that computes 32-bit integers from integers.

    None for other instructions, for bit patterns, and for numbers or tiles that are not integers.
    """
    if type(op) not in COMPUTING:
        return None
    if info_of(op.required("dst")).dtype.name not in INT32:
        return None
    found = _arithmetic(op, target)
    return found if found is not None and all(map(_is_integer, found.operands)) else None


def _arithmetic(op: NisaOp, target: Target) -> IntegerArithmetic | None:
    if isinstance(op, DmaComputeOp):
        first, *others = op.operands_named("srcs")
        steps = [IntegerStep(op.value_of("reduce_op"), other) for other in others]
        return IntegerArithmetic(first, tuple(steps), False)
    if any(a is not None and a.kind is AluKind.bitvec for a in (alu_of(op, w) for w in _words(op))):
        return None
    if isinstance(op, TensorTensorOp):
        exact = native_int32(op) and engine_of(op, target) is engine.gpsimd
        step = IntegerStep(op.value_of("op"), op.data2)
        return IntegerArithmetic(op.data1, (step,), exact)
    first = op.required("data")
    if isinstance(op, TensorReduceOp):
        terms = info_of(first).size // max(info_of(op.dst).size, 1)
        return IntegerArithmetic(first, (), False, op.value_of("op"), terms)
    return IntegerArithmetic(first, tuple(_scalar_steps(op)), False)


def _words(op: NisaOp) -> Sequence[str]:
    return [name for name in ("op", "op0", "op1") if op.declares(name)]


def _scalar_steps(op: NisaOp) -> Iterator[IntegerStep]:
    for word, operand, reverse in (
        ("op0", "operand0", "reverse0"),
        ("op1", "operand1", "reverse1"),
    ):
        if op.declares(word) and op.value_of(word) is not None:
            yield IntegerStep(op.value_of(word), op.operand_named(operand), op.value_of(reverse))


def _is_integer(value: SSAValue) -> bool:
    if is_tile(value):
        return info_of(value).dtype.is_integer
    number = scalar_constant(value)
    return number is not None and float(number).is_integer()
