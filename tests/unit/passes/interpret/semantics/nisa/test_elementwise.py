"""tensor_tensor, tensor_scalar, scalar_tensor_tensor and reciprocal, element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from support.nisa.harness import (
    SHAPE,
    C,
    Call,
    D,
    Form,
    R,
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
    whole_numbers,
)
from support.nisa.naive import BITVEC, INEXACT_OPERATORS
from support.oracle import INTEGERS, ROUNDED_TYPES

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
    """Return whether `naive` can check the pair: after an inexact operator, a monotone one."""
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
    """Return the limits of the type, integers that float32 cannot represent, and random bits."""
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


# -- with accumulators ----------------------------------------------------------------------------

REDUCE_OPS = ("add", "multiply", "maximum", "minimum")
CUMULATIVE_OPS = ("add", "subtract", "multiply", "maximum", "minimum")
NARROW = ("bfloat16", "float16", "float8_e4m3", "float8_e4m3fn", "float8_e5m2", "float32")
CUMULATIVE_TYPES = (*NARROW, "uint8", "uint16", "int8", "int16")


def reducing(op0: str = "add", reduce_op: str = "maximum", **others: Any) -> Call:
    operand0 = C if op0 in BINARY else None
    arguments = {"dst": Z, "data": X, "operand0": operand0, "reduce_res": R} | others
    return call("tensor_scalar_reduce", **arguments, op0=op0, reduce_op=reduce_op)


def cumulative(op0: str = "multiply", op1: str = "add", **others: Any) -> Call:
    imm0 = C if op0 in BINARY else 0
    arguments = {"dst": Z, "src": X, "imm0": imm0} | others
    return call("tensor_scalar_cumulative", **arguments, op0=op0, op1=op1)


LOADED = {"reduce_cmd": "load_reduce"}


@each_form([reducing(**LOADED, reduce_init=D), cumulative(**LOADED, imm1=D)])
def test_forms_of_accumulating(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, whole_numbers).check()


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_data_types_of_reductions(dtype: str) -> None:
    to_each_dtype(reducing(), dtype).check()
    to_each_dtype(reducing(), dtype, tile="r", shape=(4, 1)).check()


@pytest.mark.parametrize("dtype", CUMULATIVE_TYPES)
def test_data_types_of_running_reductions(dtype: str) -> None:
    to_each_dtype(cumulative(op1="maximum"), dtype, dtypes=CUMULATIVE_TYPES).check()


@pytest.mark.parametrize("op0", ARITHMETIC)
def test_operators_before_a_reduction(op0: str) -> None:
    calls = [
        reducing(op0, reduce_op, reduce_res=R[:, at : at + 1], reduce_res_negate=negate)
        for at, (reduce_op, negate) in enumerate(
            [("maximum", False), ("maximum", True), ("minimum", False), ("minimum", True)]
        )
    ]
    arranged(calls, shapes={"r": (4, 4)}).check()


@pytest.mark.parametrize("op0", [op for op in ARITHMETIC if op not in INEXACT_OPERATORS])
def test_operators_before_a_running_reduction(op0: str) -> None:
    side_by_side([cumulative(op0, op1) for op1 in CUMULATIVE_OPS]).check()


@pytest.mark.parametrize("op", REDUCE_OPS)
@pytest.mark.parametrize("operand0", [C, 0, -1.5, math.inf], ids=str)
def test_reductions_of_whole_numbers(op: str, operand0: Any) -> None:
    made = reducing("subtract", op, operand0=operand0)
    arranged([made], fill=whole_numbers, shape=(4, 6)).check()


@pytest.mark.parametrize("op", CUMULATIVE_OPS)
@pytest.mark.parametrize("shape", [(1, 1), (128, 2), (3, 100)])
def test_running_reductions_are_exact(op: str, shape: tuple[int, int]) -> None:
    calls = [
        cumulative("multiply", op, imm0=imm0, reduce_cmd=command, imm1=imm1)
        for imm0 in (C, -0.75)
        for command, imm1 in (
            ("reset_reduce", None),
            ("load_reduce", D),
            ("load_reduce", -0.0),
            ("reduce", 3.0),
        )
    ]
    side_by_side(calls, shape=shape).check()


def test_cumulative_results_are_rounded_but_not_the_accumulators() -> None:
    tiles = {"x": holding("float32", [[1.0, 2.0**-9, 2.0**-9]]), "z": Tile("bfloat16", (1, 3))}
    results = arranged([cumulative("add", imm0=0.0)], tiles=tiles).run()
    assert results["z"].astype(np.float32).tolist() == [[1.0, 1.0, 1.0]]
    tiles["x"] = holding("float32", [[1.0, 2.0**-8, 2.0**-8]])
    results = arranged([cumulative("add", imm0=0.0)], tiles=tiles).run()
    assert results["z"].astype(np.float32).tolist() == [[1.0, 1.0, 1.0078125]]


def test_a_negated_result_leaves_the_accumulators() -> None:
    calls = [
        reducing(reduce_op="add", reduce_res=R[:, 0:1], reduce_res_negate=True),
        reducing(reduce_op="add", reduce_res=R[:, 1:2], reduce_cmd="reduce"),
        reducing(reduce_op="add", reduce_res=None, reduce_cmd="reduce", reduce_res_negate=True),
        reducing(reduce_op="add", reduce_res=R[:, 2:3], reduce_cmd="reduce"),
    ]
    tiles = {"x": holding("float32", [[1, 2, 3]]), "c": holding("float32", [[0]])}
    results = arranged(calls, shape=(1, 3), shapes={"r": (1, 3)}, tiles=tiles).run()
    assert results["r"].tolist() == [[-6, 12, 24]]


@pytest.mark.parametrize("columns", [1, 4, 8])
def test_negated_results_in_columns(columns: int) -> None:
    calls = [
        reducing(reduce_op="maximum", reduce_res=R[:, at : at + 1], reduce_res_negate=True)
        for at in range(columns)
    ]
    arranged(calls, shape=(128, 3), shapes={"c": (128, 1), "r": (128, columns)}).check()


def reduced_pair(reduce_op: str = "add", **others: Any) -> Call:
    arguments = {"dst": Z, "data": X, "operand0": C, "operand1": Y, "reduce_res": R} | others
    return call(
        "scalar_tensor_tensor", **arguments, op0="multiply", op1="subtract", reduce_op=reduce_op
    )


@each_form([reduced_pair()])
def test_forms_of_a_reduced_pair(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, whole_numbers).check()


@pytest.mark.parametrize("reduce_op", REDUCE_OPS)
def test_a_reduced_pair_goes_on_from_the_accumulators(reduce_op: str) -> None:
    calls = [
        reduced_pair(reduce_op, reduce_res=R[:, 0:1]),
        reduced_pair(reduce_op, data=Y, operand1=X, reduce_cmd="reduce", reduce_res=None),
        reducing("add", reduce_op, reduce_cmd="reduce", reduce_res=R[:, 1:2]),
        reduced_pair(reduce_op, reduce_cmd="idle", reduce_res=R[:, 2:3]),
    ]
    arranged(calls, fill=whole_numbers, shape=(3, 5), shapes={"r": (3, 3)}).check()


def test_a_plain_pair_leaves_the_accumulators() -> None:
    plain = call(
        "scalar_tensor_tensor", dst=Z, data=X, op0="add", operand0=9.0, op1="add", operand1=X
    )
    calls = [
        reducing(reduce_op="add", reduce_res=R[:, 0:1]),
        plain,
        reducing(reduce_op="add", reduce_cmd="reduce", reduce_res=R[:, 1:2]),
    ]
    tiles = {"x": holding("float32", [[1, 2, 3]]), "c": holding("float32", [[0]])}
    results = arranged(calls, shape=(1, 3), shapes={"r": (1, 2)}, tiles=tiles).run()
    assert results["r"].tolist() == [[6, 12]]


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_targets_of_accumulating(target: str) -> None:
    arranged([reducing(), cumulative()], target=target).check()
