"""tensor_tensor, tensor_scalar, scalar_tensor_tensor and reciprocal, element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from nisa.harness import (
    SHAPE,
    C,
    Call,
    D,
    Form,
    Tile,
    View,
    X,
    Y,
    Z,
    arranged,
    call,
    each_form,
    filled,
    hard_to_round,
    holding,
    side_by_side,
    to_each_dtype,
)
from nisa.naive import BITVEC, INEXACT_OPERATORS
from oracle import INTEGERS, ROUNDED_TYPES

from nkijit.dialects.operators import OPERATORS, AluKind

ARITHMETIC = [
    name
    for name, operator in OPERATORS.items()
    if operator.alu is not None and operator.alu.kind is AluKind.arithmetic
]
BINARY = [name for name in ARITHMETIC if OPERATORS[name].alu.arity == 2]
MONOTONE = ("add", "subtract", "multiply", "maximum", "minimum", "greater", "less_equal")

HARD_NUMBERS = (0.0, -0.0, 1, -1.5, 3, 1e-40, 1e30, 2**24 + 1, math.inf, -math.inf, math.nan)

CALLS = [
    call("tensor_tensor", dst=Z, data1=X, data2=Y, op="subtract"),
    call("tensor_scalar", dst=Z, data=X, op0="multiply", operand0=C, op1="add", operand1=D),
    call("scalar_tensor_tensor", dst=Z, data=X, op0="multiply", operand0=C, op1="add", operand1=Y),
    call("reciprocal", dst=Z, data=X),
]


@each_form(CALLS)
def test_forms_of_operands(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, filled).check()


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_data_types(dtype: str) -> None:
    to_each_dtype(CALLS[0], dtype).check()


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_results_are_rounded_once(dtype: str) -> None:
    hard_to_round(call("tensor_scalar", dst=Z, data=X, op0="add", operand0=-0.0), dtype).check()


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
@pytest.mark.parametrize("made", CALLS, ids=str)
def test_targets(made: Call, target: str) -> None:
    arranged([made], target=target).check()


# -- operators ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dst", [Z, X, Y], ids=["apart", "onto-data1", "onto-data2"])
@pytest.mark.parametrize("op", BINARY)
def test_tensor_tensor_operators(op: str, dst: View) -> None:
    made = call("tensor_tensor", dst=dst, data1=X, data2=Y, op=op)
    arranged([made], shape=(4, 60)).check()


@pytest.mark.parametrize("op", ARITHMETIC)
def test_tensor_scalar_operators(op: str) -> None:
    unary = op not in BINARY
    operands: tuple[Any, ...] = (None, 0, -0.0) if unary else (C, *HARD_NUMBERS)
    calls = [
        call("tensor_scalar", dst=Z, data=X, op0=op, operand0=y, reverse0=reverse)
        for y in operands
        for reverse in (False, True)
    ]
    side_by_side(calls, shape=(4, 20)).check()


@pytest.mark.parametrize("op", ARITHMETIC)
def test_tensor_scalar_operators_in_place(op: str) -> None:
    operand = C if op in BINARY else None
    calls = [
        call("tensor_scalar", dst=x, data=x, op0=op, operand0=operand, reverse0=reverse)
        for x, reverse in ((X, False), (Y, True))
    ]
    arranged(calls, shape=(4, 20)).check()


def follows(op1: str, op0: str) -> bool:
    """What `naive` can judge: after an inexact operator, a monotone one."""
    return op0 not in INEXACT_OPERATORS or op1 in MONOTONE


@pytest.mark.parametrize("op0", ARITHMETIC)
def test_pairs_of_tensor_scalar_operators(op0: str) -> None:
    calls = [
        call(
            "tensor_scalar",
            dst=Z,
            data=X,
            op0=op0,
            operand0=C if op0 in BINARY else None,
            reverse0=index % 2 == 0,
            op1=op1,
            operand1=D if op1 in BINARY else None,
            reverse1=index % 4 < 2,
        )
        for index, op1 in enumerate(ARITHMETIC)
        if follows(op1, op0)
    ]
    side_by_side(calls).check()


@pytest.mark.parametrize("op0", BINARY)
def test_pairs_of_scalar_tensor_tensor_operators(op0: str) -> None:
    calls = [
        call(
            "scalar_tensor_tensor",
            dst=Z,
            data=X,
            op0=op0,
            operand0=C if index % 3 else -1.5,
            reverse0=index % 4 < 2,
            op1=op1,
            operand1=Y,
            reverse1=index % 2 == 0,
        )
        for index, op1 in enumerate(BINARY)
        if follows(op1, op0)
    ]
    side_by_side(calls).check()


@pytest.mark.parametrize("engine", ["unknown", "scalar", "vector"])
@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_engines_of_tensor_scalar_agree(engine: str, target: str) -> None:
    scale = {"op0": "multiply", "operand0": C}
    calls = [
        call("tensor_scalar", dst=Z, data=X, engine=engine, **arguments)
        for arguments in (
            scale,
            scale | {"op1": "add", "operand1": D},
            {"op0": "add", "operand0": 0.1},
        )
    ]
    side_by_side(calls, target=target).check()


# -- integers -------------------------------------------------------------------------------------

INTEGER_TYPES = tuple(INTEGERS)
WIDE = ("int32", "uint32")
INTEGER_SHAPE = (4, 40)


def hard_integers(dtype: str, seed: int) -> Tile:
    """The limits of the type, what float32 cannot hold, and any bits."""
    bits, signed = INTEGERS[dtype]
    low = -(2 ** (bits - 1)) if signed else 0
    limits = [low, low + 1, 0, 1, 5, low + 2**bits - 2, low + 2**bits - 1]
    odd = [n for n in (2**24 + 1, 2**31 - 1, 46341, 65537) if n < low + 2**bits]
    tile = filled(dtype, INTEGER_SHAPE, seed=seed)
    chosen = np.random.default_rng(seed).choice([*limits, *odd], tile.shape)
    at_random = np.random.default_rng(seed + 1).random(tile.shape) < 0.5
    return holding(dtype, np.where(at_random, tile.data.astype(np.int64), chosen))


def shift_amounts(dtype: str) -> Tile:
    """Amounts up to the width and beyond it, among any bits."""
    bits = INTEGERS[dtype][0]
    near = np.arange(160).reshape(INTEGER_SHAPE) % (bits + 3)
    return holding(dtype, np.where(near % 7 == 6, filled(dtype, INTEGER_SHAPE).data, near))


@pytest.mark.parametrize("result", WIDE)
@pytest.mark.parametrize("second", WIDE)
@pytest.mark.parametrize("first", WIDE)
def test_native_integers(first: str, second: str, result: str) -> None:
    calls = [
        call("tensor_tensor", dst=Z, data1=X, data2=Y, op=op) for op in BINARY if op != "power"
    ]
    tiles = {"x": hard_integers(first, 1), "y": hard_integers(second, 2)}
    side_by_side(calls, result, shape=INTEGER_SHAPE, tiles=tiles).check()


# The GpSimd Engine, which has native integers, cannot reach PSUM.
ENGINES = [("gpsimd", ""), *((e, psum) for e in ("unknown", "vector") for psum in ("", *"xyz"))]


@pytest.mark.parametrize(("engine", "psum"), ENGINES)
def test_integers_by_engine_and_buffer(engine: str, psum: str) -> None:
    tiles = {
        name: Tile("int32", INTEGER_SHAPE, "psum" if name == psum else "sbuf", tile.data)
        for name in "xyz"
        for tile in [hard_integers("int32", ord(name))]
    }
    made = call("tensor_tensor", dst=Z, data1=X, data2=Y, op="multiply", engine=engine)
    arranged([made], tiles=tiles).check()


def test_other_integers_compute_in_float32() -> None:
    tiles = {"x": hard_integers("int32", 1), "y": hard_integers("int16", 2)}
    made = call("tensor_tensor", dst=Z, data1=X, data2=Y, op="add")
    arranged([made], "int32", shape=INTEGER_SHAPE, tiles=tiles).check()


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
@pytest.mark.parametrize("op", [op for op in BITVEC if op != "invert"])
def test_tensor_tensor_bits(op: str, dtype: str) -> None:
    other = dtype.removeprefix("u") if dtype.startswith("u") else f"u{dtype}"
    made = call("tensor_tensor", dst=Z, data1=X, data2=Y, op=op)
    tiles = {"x": hard_integers(dtype, 1), "y": shift_amounts(other)}
    for result in (dtype, other):
        arranged([made], result, shape=INTEGER_SHAPE, tiles=tiles).check()


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
@pytest.mark.parametrize("op0", BITVEC)
def test_tensor_scalar_bits(op0: str, dtype: str) -> None:
    operands: tuple[Any, ...] = (None, 0) if op0 == "invert" else (C, 3, -1, 2**31, 0xA5)
    seconds = [{}, *({"op1": op, "operand1": None if op == "invert" else 5} for op in BITVEC)]
    calls = [
        call("tensor_scalar", dst=Z, data=X, op0=op0, operand0=y, reverse0=reverse, **second)
        for y in operands
        for reverse in (False, True)
        for second in (seconds if y in (None, 3) and not reverse else seconds[:1])
    ]
    tiles = {
        "x": hard_integers(dtype, 1),
        "c": holding(dtype, [[1], [2], [INTEGERS[dtype][0]], [0]]),
    }
    side_by_side(calls, dtype, shape=INTEGER_SHAPE, tiles=tiles).check()


@pytest.mark.parametrize("layout", [(4, 12), (4, 3, 4)])
def test_bits_in_place_and_shifted(layout: tuple[int, ...]) -> None:
    x = X if layout == SHAPE else X.then("permute", (0, 2, 1))
    calls = [
        call("tensor_tensor", dst=x, data1=X, data2=x, op="bitwise_xor"),
        call("tensor_scalar", dst=X[:, 1:], data=X[:, :-1], op0="left_shift", operand0=1),
    ]
    arranged(calls, "uint16", shapes={"x": layout}).check()
