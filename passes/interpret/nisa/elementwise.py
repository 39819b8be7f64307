"""What the element-wise instructions compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from nkijit.passes.interpret.binding import Array, Binding, Env, Source, Step, semantics
from nkijit.passes.interpret.functions import BITVEC, UNARY
from nkijit.passes.interpret.nisa.accumulators import (
    accumulate,
    in_order,
    registers_of,
    start,
)
from nkijit.passes.interpret.nisa.scan import running
from nkijit.passes.interpret.nisa.stages import Stage, chain, operator_stage


@semantics(TensorTensorOp)
def tensor_tensor(b: Binding) -> Step:
    word = b.value("op")
    if is_bitvec(b.op, "op"):
        return _bitvec(b, "data1", [(BITVEC[word], [b.read("data2", raw=True)])])
    if native_int32(b.op) and word in _INTEGER and engine_of(b.op, b.target) is engine.gpsimd:
        return _native(b, _INTEGER[word])
    step, _ = chain(b, b.read("data1"), [operator_stage(word, b.read("data2"))])
    return step


@semantics(TensorScalarOp)
def tensor_scalar(b: Binding) -> Step:
    stages: list[Stage] = []
    bitvec = is_bitvec(b.op, "op0")
    for operator, operand, reverse in (
        ("op0", "operand0", "reverse0"),
        ("op1", "operand1", "reverse1"),
    ):
        word = b.value(operator)
        if word is None:
            continue
        if bitvec:
            stages.append(_bitvec_stage(b, word, operand, b.value(reverse)))
        else:
            source = b.read(operand) if b.has(operand) else None
            stages.append(operator_stage(word, source, b.value(reverse)))
    if bitvec:
        return _bitvec(b, "data", stages)
    step, _ = chain(b, b.read("data"), stages)
    return step


@semantics(ScalarTensorTensorOp)
def scalar_tensor_tensor(b: Binding) -> Step:
    stages = [
        operator_stage(b.value("op0"), b.read("operand0"), b.value("reverse0")),
        operator_stage(b.value("op1"), b.read("operand1"), b.value("reverse1")),
    ]
    step, _ = chain(b, b.read("data"), stages)
    return step


@semantics(ReciprocalOp)
def reciprocal(b: Binding) -> Step:
    step, _ = chain(b, b.read("data"), [(UNARY["reciprocal"], [])])
    return step


@semantics(TensorScalarReduceOp)
def tensor_scalar_reduce(b: Binding) -> Step:
    operand = b.read("operand0") if b.has("operand0") else None
    compute, results = chain(b, b.read("data"), [operator_stage(b.value("op0"), operand)])
    return accumulate(b, compute, results, negate=b.value("reduce_res_negate"))


@semantics(TensorScalarCumulativeOp)
def tensor_scalar_cumulative(b: Binding) -> Step:
    registers = registers_of(b)
    stages = [
        operator_stage(b.value("op0"), b.read("imm0")),
        (running(b.value("op1")), [registers.source]),
    ]
    compute, results = chain(b, b.read("src"), stages)

    def keep_last(env: Env) -> None:
        registers.of(env)[...] = env[results][:, -1:]

    return in_order([*start(b, registers), compute, keep_last])


# ------------------------------------------------------------------ bit patterns


def _bitvec_stage(b: Binding, word: str, operand: str, reverse: bool) -> Stage:
    function = BITVEC[word]
    alu = OPERATORS[word].alu
    assert alu is not None
    if alu.arity == 1:  # an operand of 0 may be given, and says nothing
        return function, []
    number = b.number(operand)
    if number is None:
        source = b.read(operand, raw=True)
    else:
        # The bits of the number that fit, as an element of the data has them.
        width = b.dtype("data").bits
        bits = np.array(int(number) & (2**width - 1), f"u{width // 8}")
        source = b.constant(bits.view(b.storage("data")))
    if not reverse:
        return function, [source]

    def reversed_function(x: Any, y: Any, out: Any) -> None:
        function(np.broadcast_to(y, x.shape), x, out)

    return reversed_function, [source]


def _bitvec(b: Binding, data: str, stages: list[Stage]) -> Step:
    """Run bitvec stages on the stored bits; all tiles are integers of one width."""
    source = b.read(data, raw=True)
    dst = b.tile("dst")
    shape = (dst.partitions, dst.free_size)
    stored = b.storage(data)
    target = b.read("dst", raw=True)

    def step(env: Env) -> None:
        result: Array = source.read(env)
        for function, operands in stages:
            out = np.empty(shape, stored)
            function(result, *[_as(operand.read(env), stored) for operand in operands], out)
            result = out
        written = env[target.slot]
        written[...] = result.view(written.dtype).reshape(written.shape)

    return step


def _as(array: Any, stored: np.dtype[Any]) -> Any:
    return array if array.dtype == stored else array.view(stored)


# ------------------------------------------------------------------ native integers

_Integers = Callable[[Any, Any], Any]


def _abs_max(x: Array, y: Array) -> Array:
    return np.where(np.abs(x) > np.abs(y), x, y)


def _abs_min(x: Array, y: Array) -> Array:
    return np.where(np.abs(x) < np.abs(y), x, y)


_INTEGER: dict[str, _Integers] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater_equal": np.greater_equal,
    "greater": np.greater,
    "less_equal": np.less_equal,
    "less": np.less,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "abs_max": _abs_max,
    "abs_min": _abs_min,
}
"""Operators in the GpSimd Engine's integers. `power` stays in float32: the documents promise
exact results for integers without saying what a negative exponent gives."""


def _native(b: Binding, function: _Integers) -> Step:
    """Integer arithmetic on int32/uint32 tiles; results wrap to 32 bits (not documented)."""
    x, y = b.read("data1", raw=True), b.read("data2", raw=True)
    dst = b.read("dst", raw=True)

    def wide(source: Source, env: Env) -> Array:
        return source.read(env).astype(np.int64)

    def step(env: Env) -> None:
        result = function(wide(x, env), wide(y, env)).astype(np.int64)
        written = env[dst.slot]
        written[...] = result.astype(written.dtype).reshape(written.shape)

    return step
