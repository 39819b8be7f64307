"""max8, nc_find_index8, nc_match_replace8, topk and nonzero_with_count."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nisa.harness import (
    FORMS,
    PSUM_FORMS,
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
    some,
    to_each_dtype,
    whole_numbers,
)
from support.oracle import ROUNDED_TYPES

V, W = View("v"), View("w")
EIGHT = (slice(None), slice(2, 10))
"""Eight elements of the usual twelve."""

MAX8 = call("max8", dst=W[EIGHT], src=X)
FIND = call("nc_find_index8", dst=View("w", dtype="uint32")[EIGHT], data=X, vals=Y[EIGHT])
REPLACE = call("nc_match_replace8", dst=Z, data=X, vals=V[EIGHT], imm=-1.5)
WITH_INDEX = Call(
    "nc_match_replace8", REPLACE.arguments | {"dst_idx": View("w", dtype="int32")[EIGHT]}
)


def fitting(*needed: str) -> list[Form]:
    """Forms of these tiles that leave at least eight elements per partition."""
    forms = [f for f in (*FORMS, *PSUM_FORMS) if f.needs and f.needs <= set(needed)]
    return [replace(form, dtypes=("float32",)) for form in forms]


def of_few_dimensions(forms: list[Form]) -> list[Form]:
    return [form for form in forms if "4-D" not in form.name]


# -- max8 -----------------------------------------------------------------------------------------


@each_form([MAX8], of_few_dimensions(fitting("x")))
def test_forms_of_max8(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, filled).check()


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_data_types_of_max8(dtype: str) -> None:
    to_each_dtype(call("max8", dst=Z, src=X), dtype, shape=(4, 8)).check()


@pytest.mark.parametrize(("partitions", "width"), [(1, 8), (128, 9), (3, 1000), (1, 16384)])
def test_sizes_of_max8(partitions: int, width: int) -> None:
    made = call("max8", dst=Z, src=X)
    shapes = {"x": (partitions, width), "z": (partitions, 8)}
    arranged([made], shapes=shapes).check()


def test_max8_of_equal_and_of_special_numbers() -> None:
    inf, nan = math.inf, math.nan
    x = holding(
        "float32",
        [[3.0] * 9, [0.0, -0.0] * 4 + [-1.0], [inf, nan, -inf, 1, 2, 3, 4, 5, 6], [1e-45] * 9],
    )
    arranged([call("max8", dst=Z, src=X)], shapes={"z": (4, 8)}, tiles={"x": x}).check()


def test_max8_begins_with_the_maximum() -> None:
    calls = [
        call("max8", dst=Z[:, 0:8], src=X),
        call("tensor_reduce", dst=Z[:, 8:9], op="maximum", data=X, axis=1),
    ]
    z = arranged(calls, shapes={"z": (4, 9)}).run()["z"]
    np.testing.assert_array_equal(z[:, 0], z[:, 8])


def test_max8_into_its_source() -> None:
    arranged([call("max8", dst=X[:, 3:11], src=X)]).check()


# -- nc_find_index8 -------------------------------------------------------------------------------


@each_form([FIND], of_few_dimensions(fitting("x")))
def test_forms_of_find_index8(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, whole_numbers).check()


@pytest.mark.parametrize("result", ["uint16", "uint32"])
@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_data_types_of_find_index8(dtype: str, result: str) -> None:
    for fill in (filled, whole_numbers):
        made = call("nc_find_index8", dst=Z, data=X, vals=X[:, 12:20])
        shapes = {"x": (4, 60), "z": (4, 8)}
        arranged([made], dtype, fill, shapes=shapes, dtypes={"z": result}).check()


def test_find_index8_pairs_equal_values_in_ascending_order() -> None:
    tiles = {
        "x": holding("float32", [[1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8]]),
        "v": holding("float32", [[3, 8, 8, 8, 8, 8, 8, 8]]),
        "z": Tile("uint16", (1, 8)),
    }
    program = arranged([call("nc_find_index8", dst=Z, data=X, vals=V)], tiles=tiles)
    program.check()
    assert program.run()["z"].tolist() == [[2, 4, 5, 6, 7, 8, 9, 10]]


@pytest.mark.parametrize(("dtype", "ones"), [("uint16", 0xFFFF), ("uint32", 0xFFFFFFFF)])
def test_values_that_are_not_found(dtype: str, ones: int) -> None:
    nan = math.nan
    tiles = {
        "x": holding("float32", [[nan, 1, 2, -0.0, 3, 4, 5, 5]]),
        "v": holding("float32", [[nan, 0.0, -0.0, 1, 1, 5, 5, 5]]),
        "z": Tile(dtype, (1, 8)),
    }
    program = arranged([call("nc_find_index8", dst=Z, data=X, vals=V)], tiles=tiles)
    program.check()
    assert program.run()["z"].tolist() == [[ones, 3, ones, 1, ones, 6, 7, ones]]


few_numbers = st.lists(
    st.sampled_from([0.0, -0.0, 1.0, 2.0, math.inf, -math.inf, math.nan, 1e-45]),
    min_size=8,
    max_size=8,
)


@given(few_numbers, few_numbers, few_numbers)
@some
def test_any_few_numbers(first: list[float], second: list[float], wanted: list[float]) -> None:
    tiles = {
        "x": holding("float32", [first + second]),
        "v": holding("float32", [wanted]),
        "i": Tile("uint16", (1, 8)),
        "j": Tile("uint32", (1, 8)),
        "z": Tile("float32", (1, 16)),
    }
    calls = [
        call("nc_find_index8", dst=View("i"), data=X, vals=V),
        call("nc_match_replace8", dst=Z, data=X, vals=V, imm=2.0, dst_idx=View("j")),
    ]
    arranged(calls, tiles=tiles).check()


# -- nc_match_replace8 ----------------------------------------------------------------------------


@each_form([WITH_INDEX], fitting("x", "z"))
def test_forms_of_match_replace8(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, whole_numbers).check()


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_data_types_of_match_replace8(dtype: str) -> None:
    to_each_dtype(REPLACE, dtype, whole_numbers).check()


@pytest.mark.parametrize("imm", [-math.inf, math.inf, math.nan, 0, -0.0, 1e300, 3, 0.1])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_replacing_numbers(imm: float, dtype: str) -> None:
    made = call("nc_match_replace8", dst=Z, data=X, vals=V[EIGHT], imm=imm)
    arranged([made], fill=whole_numbers, dtypes={"z": dtype}).check()


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "int32"])
def test_match_replace8_pairs_equal_values_in_descending_order(dtype: str) -> None:
    tiles = {
        "x": holding("float32", [[1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8]]),
        "v": holding("float32", [[3, 8, 8, 8, 8, 8, 8, 8]]),
        "i": Tile(dtype, (1, 8)),
    }
    made = call("nc_match_replace8", dst=X, data=X, vals=V, imm=0.0, dst_idx=View("i"))
    program = arranged([made], tiles=tiles)
    program.check()
    results = program.run()
    assert results["i"].tolist() == [[2, 10, 9, 8, 7, 6, 5, 4]]
    assert results["x"].tolist() == [[1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0]]


def test_the_largest_sixteen_in_two_rounds() -> None:
    top = View("t")
    rounds = [
        step
        for at in (slice(0, 8), slice(8, 16))
        for step in (
            call("max8", dst=top[:, at], src=X),
            call(
                "nc_match_replace8",
                dst=X,
                data=X,
                vals=top[:, at],
                imm=-math.inf,
                dst_idx=View("i")[:, at],
            ),
        )
    ]
    x = np.random.default_rng(0).permutation(400).reshape(4, 100).astype(np.float32)
    tiles = {
        "x": holding("float32", x),
        "t": Tile("float32", (4, 16)),
        "i": Tile("uint32", (4, 16)),
    }
    results = arranged(rounds, tiles=tiles).run()
    np.testing.assert_array_equal(results["t"], np.sort(x)[:, ::-1][:, :16])
    found = np.take_along_axis(x, results["i"].astype(np.intp), axis=1)
    np.testing.assert_array_equal(found, results["t"])


# -- topk -----------------------------------------------------------------------------------------


def topk_program(x: Tile, n: int, k: int, **others: Any) -> Any:
    partitions = x.shape[0]
    tiles = {
        "x": x,
        "z": filled("bfloat16", (partitions, k), seed=1),
        "i": filled("uint32", (partitions, k), seed=2),
    }
    made = call("topk", val_dst=Z, idx_dst=View("i"), src=X, n=n)
    return arranged([made], tiles=tiles, **others)


@pytest.mark.parametrize(
    ("partitions", "columns", "n", "k"),
    [
        (16, 1, 8, 1),
        (16, 1, 16, 16),
        (32, 3, 42, 8),
        (128, 4, 60, 17),
        (16, 8, 100, 100),
        (48, 9, 8, 8),
    ],
)
@pytest.mark.parametrize("fill", [filled, whole_numbers])
def test_topk(partitions: int, columns: int, n: int, k: int, fill: Any) -> None:
    topk_program(fill("bfloat16", (partitions, columns)), n, k).check()


@pytest.mark.parametrize("target", ["trn1", "trn2"])
def test_targets_of_topk(target: str) -> None:
    topk_program(filled("bfloat16", (16, 2)), 20, 3, target=target).check()


def test_topk_writes_from_partition_to_partition() -> None:
    x = np.arange(32).reshape(2, 16).T
    results = topk_program(holding("bfloat16", x), 32, 18).run()
    assert results["i"][:, 0].tolist() == list(range(14, 30))
    assert results["i"][:2, 1].tolist() == [30, 31]


def test_topk_of_equal_numbers_takes_the_first() -> None:
    results = topk_program(holding("bfloat16", np.ones((16, 1))), 12, 3).run()
    assert results["i"][:3, 0].tolist() == [2, 1, 0]


def test_views_of_topk() -> None:
    tiles = {
        "x": filled("bfloat16", (64, 9)),
        "z": filled("bfloat16", (64, 12), seed=1),
        "i": filled("uint32", (64, 12), seed=2),
    }
    made = call(
        "topk", val_dst=Z[32:48, 1:11:2], idx_dst=View("i")[0:16, 2:7], src=X[32:48, ::2], n=70
    )
    arranged([made], tiles=tiles).check()


# -- nonzero_with_count ---------------------------------------------------------------------------

NONZERO = call("nonzero_with_count", dst=Z, src=X)


def nonzero(x: Tile, **arguments: int) -> Any:
    made = Call("nonzero_with_count", NONZERO.arguments | arguments)
    z = filled("int32", (x.shape[0], x.shape[1] + 1), seed=1)
    return arranged([made], tiles={"x": x, "z": z})


@pytest.mark.parametrize("shape", [(1, 1), (1, 20), (16, 5), (17, 5), (128, 9)])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_nonzero_with_count(dtype: str, shape: tuple[int, int]) -> None:
    for fill in (whole_numbers, filled):
        nonzero(fill(dtype, shape)).check()


def test_nonzero_of_special_numbers() -> None:
    x = holding("float32", [[0.0, -0.0, math.nan, math.inf, -1e-45, 0.5, 0.0]])
    program = nonzero(x, index_offset=16, padding_val=-7)
    program.check()
    assert program.run()["z"].tolist() == [[18, 19, 20, 21, -7, -7, -7, 4]]


@pytest.mark.parametrize(("first", "last"), [(0, 0), (1, 1)], ids=["none", "all"])
def test_nonzero_of_none_and_of_all(first: int, last: int) -> None:
    nonzero(holding("int32", [[first] * 4 + [last] * 4])).check()


def test_nonzero_of_views() -> None:
    tiles = {
        "x": whole_numbers("int32", (64, 4, 6)),
        "z": filled("int32", (64, 5, 9)),
    }
    made = call(
        "nonzero_with_count",
        dst=Z[32:64, ::2, 0:3].then("permute", (0, 2, 1)),
        src=X[32:64, 0:2, 1:5],
        index_offset=-3,
    )
    arranged([made], tiles=tiles).check()


def test_topk_of_values_kept_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    program = topk_program(whole_numbers("bfloat16", (16, 4)), 60, 5)
    expected = program.run()
    monkeypatch.setenv("NKI_PRECISE_FP", "0")
    results = program.kernel(program.inputs)
    np.testing.assert_array_equal(results["i"], expected["i"])
    np.testing.assert_array_equal(results["z"], expected["z"].astype(np.float32))
