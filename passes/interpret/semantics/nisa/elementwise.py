"""Semantics of element-wise instructions."""

from __future__ import annotations

import numpy as np

from nkijit.dialects.declare.queries import engine_of, is_bitvec
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.nisa.elementwise import (
    ReciprocalOp,
    ScalarTensorTensorOp,
    TensorScalarCumulativeOp,
    TensorScalarOp,
    TensorScalarReduceOp,
    TensorTensorOp,
    native_int32,
)
from nkijit.dialects.operators import OPERATORS
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.records import (
    AccumulatorUse,
    Applied,
    Arithmetic,
    Chain,
    Table,
)
from nkijit.passes.interpret.semantics.nisa.accumulators import (
    accumulator_use,
    registers_of,
    start_of,
)
from nkijit.passes.interpret.semantics.nisa.chains import applied
from nkijit.passes.interpret.semantics.registry import semantics
from nkijit.passes.numerics.operators import INTEGER


@semantics(TensorTensorOp)
def tensor_tensor(b: Binding) -> Chain:
    word, arithmetic = b.value("op"), Arithmetic.float32
    if is_bitvec(b.op, "op"):
        arithmetic = Arithmetic.bits
    elif native_int32(b.op) and word in INTEGER and engine_of(b.op, b.target) is engine.gpsimd:
        # Results wrap to 32 bits (not documented).
        arithmetic = Arithmetic.integers
    raw = arithmetic is not Arithmetic.float32
    stage = applied(word, b.read("data2", raw=raw))
    return Chain(b.read("data1", raw=raw), (stage,), b.into(), arithmetic)


@semantics(TensorScalarOp)
def tensor_scalar(b: Binding) -> Chain:
    stages: list[Applied] = []
    bitvec = is_bitvec(b.op, "op0")
    for operator, operand, reverse in (
        ("op0", "operand0", "reverse0"),
        ("op1", "operand1", "reverse1"),
    ):
        word = b.value(operator)
        if word is None:
            continue
        if bitvec:
            stages.append(_bit_stage(b, word, operand, b.value(reverse)))
        else:
            source = b.read(operand) if b.has(operand) else None
            stages.append(applied(word, source, b.value(reverse)))
    arithmetic = Arithmetic.bits if bitvec else Arithmetic.float32
    return Chain(b.read("data", raw=bitvec), tuple(stages), b.into(), arithmetic)


def _bit_stage(b: Binding, word: str, operand: str, reverse: bool) -> Applied:
    alu = OPERATORS[word].alu
    assert alu is not None
    if alu.arity == 1:  # an operand of 0 is allowed and ignored
        return Applied(word)
    number = b.number(operand)
    if number is None:
        return Applied(word, b.read(operand, raw=True), reverse)
    # The low bits of the number, as an element of the data.
    width = b.dtype("data").bits
    bits = np.array(int(number) & (2**width - 1), f"u{width // 8}")
    return Applied(word, b.constant(bits.view(b.storage("data"))), reverse)


@semantics(ScalarTensorTensorOp)
def scalar_tensor_tensor(b: Binding) -> Chain:
    stages = (
        applied(b.value("op0"), b.read("operand0"), b.value("reverse0")),
        applied(b.value("op1"), b.read("operand1"), b.value("reverse1")),
    )
    return Chain(b.read("data"), stages, b.into(), accumulators=accumulator_use(b))


@semantics(ReciprocalOp)
def reciprocal(b: Binding) -> Chain:
    return Chain(b.read("data"), (Applied("reciprocal"),), b.into())


@semantics(TensorScalarReduceOp)
def tensor_scalar_reduce(b: Binding) -> Chain:
    operand = b.read("operand0") if b.has("operand0") else None
    stages = (applied(b.value("op0"), operand),)
    use = accumulator_use(b, negate=b.value("reduce_res_negate"))
    return Chain(b.read("data"), stages, b.into(), accumulators=use)


@semantics(TensorScalarCumulativeOp)
def tensor_scalar_cumulative(b: Binding) -> Chain:
    registers = registers_of(b)
    stages = (
        applied(b.value("op0"), b.read("imm0")),
        Applied(b.value("op1"), registers, table=Table.running),
    )
    use = AccumulatorUse(registers, start_of(b), word=None, keeps_last=True)
    return Chain(b.read("src"), stages, b.into(), accumulators=use)
