"""tensor_tensor_scan: every element takes the result of the one before."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nisa.harness import (
    C,
    Call,
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
    holding,
    side_by_side,
    some,
    to_each_dtype,
    whole_numbers,
)
from support.nisa.naive import INEXACT_OPERATORS
from support.oracle import ROUNDED_TYPES, hard_floats

from nkijit.dialects.operators import OPERATORS, AluKind

BINARY = [
    name
    for name, operator in OPERATORS.items()
    if operator.alu is not None
    and operator.alu.kind is AluKind.arithmetic
    and operator.alu.arity == 2
]
EXACT = [name for name in BINARY if name not in INEXACT_OPERATORS]


def scan(op0: str = "multiply", op1: str = "add", **others: object) -> Call:
    arguments = {"dst": Z, "data0": X, "data1": Y, "initial": C} | others
    return call("tensor_tensor_scan", **arguments, op0=op0, op1=op1)


@each_form([scan()])
def test_forms_of_operands(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, filled).check()


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_data_types(dtype: str) -> None:
    to_each_dtype(scan("subtract", "maximum"), dtype).check()


@pytest.mark.parametrize("op0", EXACT)
def test_pairs_of_operators(op0: str) -> None:
    calls = [
        scan(op0, op1, reverse0=index % 2 == 0, reverse1=index % 4 < 2, initial=initial)
        for index, op1 in enumerate(EXACT)
        for initial in (C, -1.5)
    ]
    side_by_side(calls).check()


def test_powers() -> None:
    # One step each: naive cannot check values after an inexact result.
    calls = [scan("power", "add", reverse0=reverse, initial=C) for reverse in (False, True)]
    side_by_side(calls, shape=(30, 1)).check()


@given(
    st.sampled_from(EXACT),
    st.sampled_from(EXACT),
    st.booleans(),
    st.booleans(),
    st.lists(st.tuples(hard_floats(), hard_floats()), min_size=1, max_size=8),
    hard_floats(),
)
@some
def test_hard_numbers(
    op0: str,
    op1: str,
    reverse0: bool,
    reverse1: bool,
    pairs: list[tuple[float, float]],
    initial: float,
) -> None:
    columns = zip(*pairs, strict=True)
    tiles = {n: holding("float32", [column]) for n, column in zip("xy", columns, strict=True)}
    made = scan(op0, op1, reverse0=reverse0, reverse1=reverse1, initial=initial)
    arranged([made], shape=(1, len(pairs)), tiles=tiles).check()


@pytest.mark.parametrize("initial", [0, -0.0, 2**24 + 1, 1e-45, math.inf, math.nan], ids=repr)
def test_initial_numbers(initial: float) -> None:
    arranged([scan("multiply", "subtract", initial=initial)]).check()


@pytest.mark.parametrize("dtype", ["bfloat16", "int16", "uint8", "float8_e4m3", "bool_"])
def test_data_types_of_the_initial_column(dtype: str) -> None:
    arranged([scan()], fill=whole_numbers, dtypes={"c": dtype}).check()


def test_the_state_is_not_rounded() -> None:
    tiles = {
        "x": holding("float32", [[1.0] * 4]),
        "y": holding("float32", [[2.0**-9] * 4]),
        "z": Tile("bfloat16", (1, 4)),
    }
    results = arranged([scan(initial=1.0)], tiles=tiles).run()
    assert results["z"].astype(np.float32).tolist() == [[1.0, 1.0, 1.0078125, 1.0078125]]


def test_scans_go_on_from_a_result() -> None:
    x, y, z = (View(name) for name in "xyz")
    calls = [
        scan(dst=z[:, :6], data0=x[:, :6], data1=y[:, :6], initial=0),
        scan(dst=z[:, 6:], data0=x[:, 6:], data1=y[:, 6:], initial=z[:, 5:6]),
    ]
    arranged(calls).check()


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_targets(target: str) -> None:
    arranged([scan()], target=target).check()
