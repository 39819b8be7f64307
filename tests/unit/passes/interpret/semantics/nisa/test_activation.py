"""activation, activation_reduce and activate2, and the accumulators that they share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nisa.harness import (
    PARTITIONS,
    C,
    Call,
    D,
    Form,
    Program,
    R,
    Tile,
    View,
    X,
    Z,
    arranged,
    call,
    each_form,
    filled,
    hard_to_round,
    holding,
    side_by_side,
    some,
    to_each_dtype,
    whole_numbers,
)
from support.oracle import ROUNDED_TYPES, hard_values

from nkijit.dialects.operators import OPERATORS

FUNCTIONS = [name for name, operator in OPERATORS.items() if operator.activation is not None]
E = View("e")
"""A column for relu_param."""

SUM: dict[str, Any] = {"reduce_op": "add", "reduce_res": R}
CALLS = [
    call("activation", dst=Z, op="abs", data=X, bias=C, scale=D),
    call("activation_reduce", dst=Z, op="abs", data=X, bias=C, scale=D, **SUM),
    call(
        "activate2",
        dst=Z,
        op="abs",
        data=X,
        imm0=C,
        imm1=D,
        op0="multiply",
        op1="subtract",
        reduce_cmd="reset_reduce",
        reduce_op="abs_max",
        reduce_res=R,
    ),
]


@each_form(CALLS[1:])
def test_forms_of_operands(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, whole_numbers).check()


def test_the_gpsimd_engine_computes_the_same() -> None:
    unscaled = {"imm0": 0.0, "imm1": 0.0, "op0": "bypass", "op1": "bypass"}
    calls = [
        call("activation", dst=Z, op="abs", data=X, bias=C, scale=D, engine="gpsimd"),
        call("activate2", dst=Z, op="square", data=X, engine="gpsimd", **unscaled),
    ]
    side_by_side(calls, target="trn3").check()


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_data_types(dtype: str) -> None:
    to_each_dtype(CALLS[0], dtype).check()


def test_data_types_of_sums() -> None:
    to_each_dtype(CALLS[1], "float32", whole_numbers, tile="r", shape=(4, 1)).check()


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
@pytest.mark.parametrize("made", CALLS[:2], ids=str)
def test_targets(made: Call, target: str) -> None:
    arranged([made], fill=whole_numbers, target=target).check()


# -- functions ------------------------------------------------------------------------------------


def ordinary_and_hard() -> Tile:
    """Numbers where functions bend, numbers far out, and special ones."""
    bends = np.linspace(-12, 12, 241)
    powers = np.exp2(np.linspace(-30, 30, 61))
    data = np.concatenate([bends, powers, -powers, hard_values((101,))]).astype(np.float32)
    return holding("float32", data.reshape(4, -1))


@pytest.mark.parametrize("op", FUNCTIONS)
def test_functions(op: str) -> None:
    x = ordinary_and_hard()
    calls = [call("activation", dst=dst, op=op, data=X) for dst in (Z, X)]
    arranged(calls, shape=x.shape, tiles={"x": x}).check()


@pytest.mark.parametrize("op", FUNCTIONS)
def test_functions_to_each_data_type(op: str) -> None:
    to_each_dtype(call("activation", dst=Z, op=op, data=X, scale=0.25), "float16").check()


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_results_are_rounded_once(dtype: str) -> None:
    hard_to_round(call("activation", dst=Z, op="copy", data=X), dtype).check()


@pytest.mark.parametrize("slope", [0.0, -0.0, 0.25, -3.0, math.inf, math.nan, E])
def test_prelu(slope: float | View) -> None:
    unscaled = {"imm0": 0.0, "imm1": 0.0, "op0": "bypass", "op1": "bypass"}
    made = call("activate2", dst=Z, op="prelu", data=X, relu_param=slope, **unscaled)
    shape = (PARTITIONS, 60)
    slopes = holding("float32", [[0.5], [-2.0], [0.0], [math.inf]])
    arranged([made], shape=shape, tiles={"e": slopes} if slope is E else {}).check()


def test_prelu_without_a_parameter_is_relu() -> None:
    arranged([call("activation", dst=Z, op="prelu", data=X)], shape=(PARTITIONS, 60)).check()


# -- scale and bias -------------------------------------------------------------------------------

NUMBERS = (0.0, -0.0, 1.0, -1.5, 3, 2**24 + 1, 1e-40, 1e30, math.inf, math.nan)


def test_scale_and_bias() -> None:
    made = call("activation", dst=Z, op="copy", data=X)
    calls = [
        call(made.instruction, **made.arguments, **scale, **bias)
        for scale in ({}, *({"scale": number} for number in (C, *NUMBERS)))
        for bias in ({}, *({"bias": number} for number in (D, 0.0, -1.5, 1e30)))
    ]
    side_by_side(calls).check()


@pytest.mark.parametrize("dtype", [dtype for dtype in ROUNDED_TYPES if dtype != "tfloat32"])
def test_data_type_of_bias(dtype: str) -> None:
    made = call("activation", dst=Z, op="copy", data=X, bias=C, scale=D)
    arranged([made], dtypes={"c": dtype}).check()


PAIRS = [
    ("multiply", "add"),
    ("multiply", "subtract"),
    ("multiply", "bypass"),
    ("add", "bypass"),
    ("subtract", "bypass"),
    ("bypass", "bypass"),
]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_activate2_operators(pair: tuple[str, str]) -> None:
    reverses = [(False, True) if op != "bypass" else (False,) for op in pair]
    calls = [
        call(
            "activate2",
            dst=Z,
            op=op,
            data=X,
            imm0=imm0,
            imm1=imm1,
            op0=pair[0],
            op1=pair[1],
            reverse0=reverse0,
            reverse1=reverse1,
        )
        for reverse0, reverse1 in product(*reverses)
        for imm0, imm1 in ((C, D), (-1.5, D), (C, 0.25), (-0.0, 1e30))
        for op in ("copy", "tanh")
    ]
    side_by_side(calls).check()


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_data_type_of_immediates(dtype: str) -> None:
    dtypes = {"c": dtype, "d": dtype}
    arranged([CALLS[2]], fill=whole_numbers, dtypes=dtypes).check()


# -- accumulators ---------------------------------------------------------------------------------

COMMANDS = ("idle", "reset", "reduce", "reset_reduce")
SEQUENCES = [
    sequence
    for length in (1, 2, 3)
    for sequence in product(COMMANDS, repeat=length)
    if sequence[0].startswith("reset")
]
"""Valid sequences of commands: before the first reset, the accumulators are undefined."""

REDUCTIONS = [("activation", "add")]
REDUCTIONS += [("activate2", op) for op in ("add", "maximum", "minimum", "abs_max", "abs_min")]


def accumulating(
    instruction: str, command: str, reduce_op: str, r: View, x: View = X, z: View = Z
) -> Call:
    """The data as they are, into the accumulators, and those read out to `r`."""
    arguments: dict[str, Any] = {"dst": z, "op": "copy", "data": x}
    arguments |= {"reduce_op": reduce_op, "reduce_res": r}
    if instruction != "activation_reduce":
        arguments["reduce_cmd"] = command
    if instruction == "activate2":
        arguments |= {"imm0": 0.0, "imm1": 0.0, "op0": "bypass", "op1": "bypass"}
    return call(instruction, **arguments)


@pytest.mark.parametrize(("instruction", "reduce_op"), REDUCTIONS)
def test_sequences_of_commands(instruction: str, reduce_op: str) -> None:
    # Sums of hard numbers depend on their order; the other reductions take any.
    fill = whole_numbers if reduce_op == "add" else filled
    steps = [
        (command, index % 3) for sequence in SEQUENCES for index, command in enumerate(sequence)
    ]
    calls = [
        accumulating(instruction, command, reduce_op, R[:, at : at + 1], View(f"x{data}"))
        for at, (command, data) in enumerate(steps)
    ]
    arranged(calls, fill=fill, shape=(2, 5), shapes={"r": (2, len(calls))}).check()


def test_sums_of_infinities_and_nan() -> None:
    x = holding(
        "float32",
        [
            [1.0, math.inf, 2.0],
            [-math.inf, 1.0, 1.0],
            [math.inf, -math.inf, 0.0],
            [1.0, math.nan, math.inf],
            [3e38, 3e38, 3e38],
        ],
    )
    calls = [
        accumulating("activation", command, "add", R[:, at : at + 1])
        for at, command in enumerate(("reset_reduce", "reduce"))
    ]
    arranged(calls, shape=x.shape, shapes={"r": (5, 2)}, tiles={"x": x}).check()


@pytest.mark.parametrize("op", ["exp", "tanh", "sigmoid", "copy"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e5m2", "int8"])
def test_sums_take_results_before_they_are_rounded(op: str, dtype: str) -> None:
    values = np.random.default_rng(0).standard_normal((4, 100)) + 1
    made = call("activation_reduce", dst=Z, op=op, data=X, **SUM)
    tiles = {"x": holding("float32", values.astype(np.float32))}
    arranged([made], dtype, shape=(4, 100), tiles=tiles).check()


def test_sum_beyond_the_range_of_the_result_type() -> None:
    tiles = {"x": holding("float32", [[1 + 2.0**-10] * 64]), "z": Tile("bfloat16", (1, 64))}
    made = call("activation_reduce", dst=Z, op="copy", data=X, **SUM)
    results = arranged([made], shape=(1, 64), tiles=tiles).run()
    assert results["z"].astype(np.float32).tolist() == [[1.0] * 64]
    assert results["r"].tolist() == [[64 * (1 + 2.0**-10)]]


PLACES = [slice(0, 4), slice(32, 36), slice(0, 40), slice(64, 65), slice(96, 128)]
"""Partitions that the tiles of one instruction may start at; some overlap."""


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["activation", "activation_reduce", "activate2"]),
            st.sampled_from(COMMANDS),
            st.sampled_from(PLACES),
        ),
        min_size=2,
        max_size=7,
    )
)
@some
def test_accumulators_belong_to_lanes_and_are_shared(
    steps: Sequence[tuple[str, str, slice]],
) -> None:
    defined = accumulating("activation", "reset", "add", R[0:128, 0:1], X[0:128], Z[0:128])
    calls = [
        accumulating(
            instruction, command, "add", R[place, at + 1 : at + 2], X[place, at:], Z[place, at:]
        )
        for at, (instruction, command, place) in enumerate(steps)
    ]
    arranged(
        [defined, *calls], "float32", whole_numbers, shape=(128, 8), shapes={"r": (128, 8)}
    ).check()


def test_tiles_of_one_instruction_in_different_partitions() -> None:
    calls = [
        accumulating("activation", "reset_reduce", "add", R[64:68, 0:1], X[32:36], Z[0:4]),
        accumulating("activation", "reduce", "add", R[0:4, 1:2], X[32:36], Z[96:100]),
        accumulating("activation", "reset_reduce", "add", R[96:100, 0:1], X[0:4], Z[32:36]),
        accumulating("activation", "idle", "add", R[0:4, 0:1], X[32:36], Z[32:36]),
    ]
    arranged(calls, fill=whole_numbers, shape=(128, 6), shapes={"r": (128, 2)}).check()


def test_results_that_are_not_read_out_stay_in_the_accumulators() -> None:
    first, last = (
        accumulating("activation", command, "add", R) for command in ("reset_reduce", "reduce")
    )
    silent = call(first.instruction, **first.arguments | {"reduce_res": None})
    Program(
        {name: whole_numbers("float32", (4, 1 if name == "r" else 12)) for name in "xzr"},
        [silent, last],
    ).check()
