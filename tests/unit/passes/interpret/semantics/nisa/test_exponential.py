"""exponential, and the accumulators of the Vector Engine."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from support.nisa.harness import (
    C,
    Call,
    D,
    Form,
    R,
    Tile,
    View,
    X,
    Z,
    arranged,
    call,
    each_form,
    filled,
    holding,
    side_by_side,
    to_each_dtype,
    whole_numbers,
)
from support.oracle import hard_values

TO_AND_FROM = ("float8_e4m3", "float8_e5m2", "float16", "bfloat16", "float32")
INTEGERS = ("int8", "int16", "int32", "uint8", "uint16")
SUMS = (*TO_AND_FROM, "tfloat32")
TO = (*SUMS, *INTEGERS)
FROM = (*TO_AND_FROM, *INTEGERS, "uint32")

CALLS = [
    call("exponential", dst=Z, src=X, max_value=C),
    call("exponential", dst=Z, src=X, reduce_cmd="reset_reduce", reduce_res=R),
    call(
        "exponential",
        dst=Z,
        src=X,
        max_value=C,
        reduce_cmd="load_reduce",
        reduce_init=D,
        reduce_res=R,
    ),
]


@each_form(CALLS[2:])
def test_forms_of_operands(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, whole_numbers).check()


@pytest.mark.parametrize("dtype", FROM)
def test_data_types(dtype: str) -> None:
    to_each_dtype(CALLS[0], dtype, dtypes=TO).check()


def test_data_types_of_sums() -> None:
    to_each_dtype(CALLS[2], "float32", whole_numbers, dtypes=SUMS, tile="r", shape=(4, 1)).check()


def test_values() -> None:
    grid = np.concatenate([np.linspace(-110, 110, 221), hard_values((79,))])
    x = holding("float32", grid.astype(np.float32).reshape(4, -1))
    calls = [
        call("exponential", dst=Z, src=X, max_value=most)
        for most in (0.0, -0.0, 1.5, 88.0, -3, 1e30, math.inf, -math.inf, math.nan, C)
    ]
    side_by_side(calls, shape=x.shape, tiles={"x": x}).check()


def test_largest_value_of_each_partition_gives_one() -> None:
    x = holding("float32", [[1.0, 3.0, 2.0], [-5.0, -7.0, -6.0]])
    c = holding("float32", [[3.0], [-5.0]])
    results = arranged(CALLS[:1], shape=x.shape, tiles={"x": x, "c": c}).run()
    assert results["z"][0, 1] == results["z"][1, 0] == 1.0


# -- accumulators ---------------------------------------------------------------------------------

COMMANDS = ("reset_reduce", "reduce", "load_reduce")
SEQUENCES = [
    sequence
    for length in (1, 2, 3)
    for sequence in product(COMMANDS, repeat=length)
    if sequence[0] != "reduce"
]
"""Valid sequences of commands; idle leaves the accumulators undefined."""


def accumulating(command: str, r: View | None, x: View = X, z: View = Z, init: Any = 2.5) -> Call:
    """A running sum, read out to `r`."""
    arguments: dict[str, Any] = {"dst": z, "src": x, "reduce_cmd": command, "reduce_res": r}
    if command == "load_reduce":
        arguments["reduce_init"] = init
    return call("exponential", **arguments)


@pytest.mark.parametrize("init", [2.5, 0.0, D], ids=["number", "zero", "column"])
def test_sequences_of_commands(init: Any) -> None:
    steps = [
        (command, index % 3) for sequence in SEQUENCES for index, command in enumerate(sequence)
    ]
    calls = [
        accumulating(command, R[:, at : at + 1], View(f"x{data}"), init=init)
        for at, (command, data) in enumerate(steps)
    ]
    arranged(calls, fill=whole_numbers, shape=(2, 5), shapes={"r": (2, len(calls))}).check()


def test_sums_take_results_before_they_are_rounded() -> None:
    x = holding("float32", [[math.log1p(2.0**-10)] * 64])
    tiles = {"x": x, "z": Tile("bfloat16", (1, 64))}
    results = arranged([CALLS[1]], shape=(1, 64), tiles=tiles).run()
    assert results["z"].astype(np.float32).tolist() == [[1.0] * 64]
    assert results["r"][0, 0] == pytest.approx(64 * (1 + 2.0**-10), rel=2.0**-20)


def test_infinite_sums() -> None:
    x = holding("float32", [[100.0, 0.0], [math.inf, 0.0], [math.nan, math.inf], [-math.inf, -200]])
    calls = [
        accumulating("reset_reduce", R[:, 0:1]),
        accumulating("reduce", R[:, 1:2]),
        accumulating("load_reduce", R[:, 2:3], init=-math.inf),
    ]
    arranged(calls, shape=x.shape, shapes={"r": (4, 3)}, tiles={"x": x}).check()


def test_accumulators_belong_to_lanes() -> None:
    calls = [
        accumulating("reset_reduce", R[0:8, 0:1], X[32:40], Z[0:8]),
        accumulating("load_reduce", R[0:34, 1:2], X[0:34], Z[0:34]),
        accumulating("reduce", R[64:68, 2:3], X[32:36], Z[64:68]),
        accumulating("reduce", R[32:40, 2:3], X[32:40], Z[32:40]),
        accumulating("reduce", R[0:4, 2:3], X[0:4], Z[0:4]),
    ]
    shapes = {"x": (40, 6), "r": (68, 3), "z": (68, 6)}
    arranged(calls, fill=whole_numbers, shape=(4, 6), shapes=shapes).check()


def test_accumulators_of_the_scalar_engine_are_others() -> None:
    scalar = {"dst": Z, "op": "copy", "data": X, "reduce_op": "add"}
    calls = [
        call("activation", **scalar, reduce_cmd="reset_reduce"),
        accumulating("reset_reduce", R[:, 0:1]),
        call("activation", **scalar, reduce_cmd="reduce", reduce_res=R[:, 1:2]),
        accumulating("reduce", R[:, 2:3]),
        call("activation", **scalar, reduce_cmd="reset"),
        accumulating("reduce", R[:, 3:4]),
    ]
    arranged(calls, fill=whole_numbers, shapes={"r": (4, 4)}).check()


def test_an_idle_exponential_leaves_the_scalar_accumulators_alone() -> None:
    scalar = {"dst": Z, "op": "copy", "data": X, "reduce_op": "add"}
    calls = [
        call("activation", **scalar, reduce_cmd="reset_reduce"),
        call("exponential", dst=Z, src=X),
        call("activation", **scalar, reduce_res=R),
    ]
    arranged(calls, fill=whole_numbers).check()


def test_hard_numbers_without_a_sum() -> None:
    arranged(CALLS[:1], fill=filled, shape=(4, 60)).check()
