"""nc_matmul and nc_transpose, and their accumulation in PSUM."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nisa.harness import (
    ALL,
    Program,
    Tile,
    View,
    X,
    Y,
    Z,
    any_bits,
    arranged,
    call,
    filled,
    holding,
    some,
    whole_numbers,
)
from support.nisa.naive import PACKED_TYPES
from support.oracle import ROUNDED_TYPES

from nkijit.isa import NkiValidationError
from nkijit.passes.interpret.records.errors import InterpretationError

MATMUL = call("nc_matmul", dst=Z, stationary=X, moving=Y)


def multiplied(
    shape: tuple[int, int, int], dtypes: tuple[str, str] = ("float32", "float32"), **others: Any
) -> Program:
    """(K, M) and (K, N) tiles of whole numbers, and their product; every sum is exact."""
    k, m, n = shape
    tiles = {
        "x": whole_numbers(dtypes[0], (k, m), seed=1),
        "y": whole_numbers(dtypes[1], (k, n), seed=2),
        "z": Tile("float32", (m, n), "psum"),
    }
    return Program(tiles, [MATMUL], **others)


SIZES = [(1, 1, 1), (3, 2, 5), (2, 128, 1), (128, 1, 3), (64, 5, 7), (128, 4, 16), (1, 3, 512)]


@pytest.mark.parametrize("shape", SIZES, ids=str)
def test_sizes(shape: tuple[int, int, int]) -> None:
    multiplied(shape).check()


NARROW = ("float8_e4m3", "float8_e5m2", "bfloat16", "float16")
WIDE = ("float32", "tfloat32")
DTYPES = [*((a, b) for a in NARROW for b in NARROW), *((a, b) for a in WIDE for b in WIDE)]
OCP = [("float8_e4m3fn", other) for other in ("float8_e4m3fn", "float8_e5m2", "bfloat16")]


@pytest.mark.parametrize("dtypes", [*DTYPES, *OCP], ids="-".join)
def test_data_types(dtypes: tuple[str, str]) -> None:
    multiplied((5, 3, 4), dtypes).check()


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_targets(target: str) -> None:
    multiplied((5, 3, 4), ("bfloat16", "float16"), target=target).check()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e4m3"])
def test_ordinary_numbers(dtype: str) -> None:
    random = np.random.default_rng(0)
    tiles = {
        "x": Tile(dtype, (100, 4), data=_as(dtype, random.standard_normal((100, 4)))),
        "y": Tile(dtype, (100, 5), data=_as(dtype, random.standard_normal((100, 5)))),
        "z": Tile("float32", (4, 5), "psum"),
    }
    again = call("nc_matmul", **MATMUL.arguments, accumulate=True)
    Program(tiles, [MATMUL, again]).check()


def _as(dtype: str, values: Any) -> Any:
    return values.astype(np.float32).astype(filled(dtype, (1,)).data.dtype)


def test_infinities_and_nan_stay_in_their_rows_and_columns() -> None:
    x = holding("float32", [[1, math.inf, 0], [2, 1, 1], [0, 1, math.nan]])
    y = holding("float32", [[1, 0, -math.inf], [0, 1, 2], [1, 1, 1]])
    Program({"x": x, "y": y, "z": Tile("float32", (3, 3), "psum")}, [MATMUL]).check()


# -- layouts --------------------------------------------------------------------------------------

INPUT_LAYOUTS = {
    "3-D": ((5, 2, 3), X),
    "permuted": ((5, 2, 3), X.then("permute", (0, 2, 1))),
    "strided": ((5, 13), X[:, 1::2]),
    "partition-32": ((40, 6), X[32:37]),
    "partition-64": ((70, 9), X[64:69, 2:8]),
    "repeated": ((5, 1, 3), X.then("broadcast", 1, 2)),
    "backwards": ((5, 6), X.then("ap", [(6, 5), (-1, 6)], 5)),
}
RESULT_LAYOUTS = {
    "3-D": ((6, 2, 3), Z),
    "permuted": ((6, 2, 3), Z.then("permute", (0, 2, 1))),
    "strided": ((6, 13), Z[:, 1::2]),
    "partition-64": ((70, 7), Z[64:70, 1:]),
    "backwards": ((6, 6), Z.then("ap", [(6, 6), (-1, 6)], 5)),
}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("operand", ["stationary", "moving"])
@pytest.mark.parametrize("layout", INPUT_LAYOUTS)
def test_layouts_of_inputs(layout: str, operand: str, dtype: str) -> None:
    shape, view = INPUT_LAYOUTS[layout]
    other = {"stationary": "moving", "moving": "stationary"}[operand]
    made = call("nc_matmul", dst=Z, **{operand: view, other: Y})
    result = (6, 4) if operand == "stationary" else (4, 6)
    tiles = {"z": Tile("float32", result, "psum")}
    arranged([made], dtype, whole_numbers, shapes={"x": shape, "y": (5, 4)}, tiles=tiles).check()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("layout", RESULT_LAYOUTS)
def test_layouts_of_results(layout: str, dtype: str) -> None:
    shape, view = RESULT_LAYOUTS[layout]
    calls = [call("nc_matmul", dst=view, stationary=X, moving=Y) for _ in range(2)]
    tiles = {"z": Tile(dtype, shape, "psum")}
    program = arranged(calls, fill=whole_numbers, shape=(5, 6), tiles=tiles)
    program.check(unwritten=True)


def test_the_same_tile_on_both_sides() -> None:
    made = call("nc_matmul", dst=Z, stationary=X, moving=X)
    tiles = {"z": Tile("float32", (6, 6), "psum")}
    arranged([made], fill=whole_numbers, shape=(5, 6), tiles=tiles).check()


# -- accumulation ---------------------------------------------------------------------------------

M, N = 4, 8
REGIONS = [
    (slice(0, M), slice(0, N)),
    (slice(0, M), slice(0, 5)),
    (slice(0, M), slice(3, N)),
    (slice(0, 2), slice(0, N)),
    (slice(0, M - 1), slice(2, 6)),
    (slice(0, M), slice(0, N, 2)),
    (slice(0, M), slice(7, 8)),
]


def summands(
    steps: Sequence[tuple[bool | None, tuple[slice, slice]]], z: str = "float32"
) -> Program:
    """Products of parts of two tiles, accumulated in parts of a PSUM tile, one after another."""
    calls = [
        call(
            "nc_matmul",
            dst=Z[region],
            stationary=View(f"x{at % 3}")[:, region[0]],
            moving=View(f"y{at % 3}")[:, region[1]],
            accumulate=accumulate,
        )
        for at, (accumulate, region) in enumerate(steps)
    ]
    shapes = {f"x{at}": (3, M) for at in range(3)} | {f"y{at}": (3, N) for at in range(3)}
    tiles = {"z": Tile(z, (M, N), "psum")}
    return arranged(calls, fill=whole_numbers, shapes=shapes, tiles=tiles)


WHOLE = REGIONS[0]


@pytest.mark.parametrize("z", ["float32", "bfloat16"])
@pytest.mark.parametrize("last", [True, False, None])
@pytest.mark.parametrize("middle", [True, False, None])
@pytest.mark.parametrize("first", [False, None])
def test_accumulate(first: bool | None, middle: bool | None, last: bool | None, z: str) -> None:
    summands([(first, WHOLE), (middle, WHOLE), (last, WHOLE)], z).check()


@given(
    st.lists(
        st.tuples(st.sampled_from([None, None, False, True]), st.sampled_from(REGIONS)),
        min_size=1,
        max_size=6,
    ),
    st.booleans(),
)
@some
def test_overlapping_regions(
    steps: Sequence[tuple[bool | None, tuple[slice, slice]]], defined: bool
) -> None:
    start = [(False, WHOLE)] if defined or any(step[0] for step in steps) else []
    summands([*start, *steps]).check(unwritten=True)


def test_accumulating_where_nothing_was_written_is_refused() -> None:
    with pytest.raises(NkiValidationError, match="accumulate"):
        summands([(True, WHOLE)]).run()


@pytest.mark.parametrize("by", ["memset", "tensor_copy"])
def test_other_instructions_do_not_start_an_accumulation(by: str) -> None:
    other = (
        call("memset", dst=Z, value=100.0)
        if by == "memset"
        else call("tensor_copy", dst=Z, src=View("w"))
    )
    tiles = {"z": Tile("float32", (6, 6), "psum"), "w": whole_numbers("float32", (6, 6))}
    calls = [other, MATMUL, MATMUL, other, MATMUL]
    arranged(calls, fill=whole_numbers, shape=(5, 6), tiles=tiles).check()


def test_accumulation_starts_anew_in_each_tile() -> None:
    calls = [
        MATMUL,
        MATMUL.with_views({"z": View("w")}),
        MATMUL,
        MATMUL.with_views({"z": View("w")}),
    ]
    tiles = {name: Tile("float32", (6, 6), "psum") for name in "zw"}
    arranged(calls, fill=whole_numbers, shape=(5, 6), tiles=tiles).check()


def test_bfloat16_results_are_rounded_at_every_step() -> None:
    x, y = holding("float32", [[16.0]]), holding("float32", [[16.0]])
    ones = holding("float32", [[1.0]])
    calls = [MATMUL, *[call("nc_matmul", dst=Z, stationary=View("w"), moving=View("w"))] * 3]
    tiles = {"x": x, "y": y, "w": ones, "z": Tile("bfloat16", (1, 1), "psum")}
    results = Program(tiles, calls).run()
    assert float(results["z"][0, 0]) == 256.0


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize(
    "dtypes", [("float8_e4m3", "float8_e5m2"), ("float8_e5m2", "float8_e5m2")], ids="-".join
)
def test_double_row(dtypes: tuple[str, str], target: str) -> None:
    tiles = {
        "x": whole_numbers(dtypes[0], (5, 2, 3), seed=1),
        "y": whole_numbers(dtypes[1], (5, 2, 4), seed=2),
        "z": Tile("float32", (3, 4), "psum"),
    }
    made = call("nc_matmul", **MATMUL.arguments, perf_mode="double_row")
    Program(tiles, [made, made], target).check()


def test_double_row_of_views() -> None:
    tiles = {
        "x": whole_numbers("float8_e4m3", (5, 3, 2), seed=1),
        "y": whole_numbers("float8_e4m3", (40, 2, 2, 6), seed=2),
        "z": Tile("float32", (3, 6), "psum"),
    }
    made = call(
        "nc_matmul",
        dst=Z,
        stationary=X.then("permute", (0, 2, 1)),
        moving=Y[32:37, :, :, ::2],
        perf_mode="double_row",
    )
    Program(tiles, [made]).check()


@pytest.mark.parametrize("position", [(0, 0), (64, 0), (32, 0)])
def test_position_in_the_array_changes_nothing(position: tuple[int, int]) -> None:
    made = call("nc_matmul", **MATMUL.arguments, tile_position=position, tile_size=(32, 128))
    tiles = {"z": Tile("float32", (6, 6), "psum")}
    arranged([made], fill=whole_numbers, shape=(5, 6), tiles=tiles).check()


# -- transposes -----------------------------------------------------------------------------------


def selecting(columns: Sequence[int], rows: int, dtype: str = "float32") -> Tile:
    """A moving tile with a single 1 in each column."""
    return holding(dtype, np.eye(rows)[:, list(columns)])


SELECTIONS = [[0, 1, 2, 3], [2, 0, 3, 1], [3, 3], [1]]


@pytest.mark.parametrize(
    ("target", "columns"), [("trn2", [1, 0]), *(("trn3", c) for c in SELECTIONS)]
)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float8_e5m2", "tfloat32"])
def test_transpose_mode_passes_bits(columns: Sequence[int], target: str, dtype: str) -> None:
    made = call("nc_matmul", **MATMUL.arguments, is_transpose=True)
    tiles = {
        "x": any_bits(dtype, (4, 9)),
        "y": selecting(columns, 4, "float32" if dtype in WIDE else "bfloat16"),
        "z": Tile(dtype, (9, len(columns)), "psum"),
    }
    results = Program(tiles, [made], target).run()
    assert results["z"].tobytes() == tiles["x"].data[list(columns)].T.tobytes()


@pytest.mark.parametrize("dtype", [*NARROW, *WIDE])
def test_transpose_mode_into_float32(dtype: str) -> None:
    made = call("nc_matmul", **MATMUL.arguments, is_transpose=True)
    tiles = {
        "x": filled(dtype, (4, 9)),
        "y": selecting([1, 3, 0, 2], 4, "float32" if dtype in WIDE else "bfloat16"),
        "z": Tile("float32", (9, 4), "psum"),
    }
    Program(tiles, [made]).check()


def test_transpose_mode_on_trn1_is_a_matmul() -> None:
    made = call("nc_matmul", **MATMUL.arguments, is_transpose=True)
    x = holding("float32", [[1.0, math.nan], [math.inf, 2.0]])
    tiles = {"x": x, "y": selecting([1, 0], 2), "z": Tile("float32", (2, 2), "psum")}
    Program(tiles, [made], "trn1").check()


@pytest.mark.parametrize(
    "moving", [[[1, 1], [0, 1]], [[0.5, 0], [0, 1]], [[0, 0], [0, 1]]], ids=str
)
def test_transpose_mode_with_another_moving_tile_is_refused(moving: Any) -> None:
    made = call("nc_matmul", **MATMUL.arguments, is_transpose=True)
    tiles = {
        "x": filled("float32", (2, 2)),
        "y": holding("float32", moving),
        "z": Tile("float32", (2, 2), "psum"),
    }
    with pytest.raises(InterpretationError, match="one 1 per column"):
        Program(tiles, [made]).run()


TRANSPOSE = call("nc_transpose", dst=Z, data=X)
WAYS = {
    "tensor": ("sbuf", "psum"),
    "vector": ("sbuf", "sbuf"),
    "vector-from-psum": ("psum", "psum"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [*ROUNDED_TYPES, *PACKED_TYPES])
def test_transposes_of_data_types(dtype: str, way: str) -> None:
    out_of, into = WAYS[way]
    tiles = {"x": any_bits(dtype, (5, 9), out_of), "z": Tile(dtype, (9, 5), into)}
    results = Program(tiles, [TRANSPOSE]).run()
    assert results["z"].tobytes() == tiles["x"].data.T.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float8_e4m3", "int8"])
def test_transposes_on_trn1_are_matmuls(dtype: str) -> None:
    x = whole_numbers(dtype, (5, 9))
    Program({"x": x, "z": Tile(dtype, (9, 5), "psum")}, [TRANSPOSE], "trn1").check()


def test_nan_and_infinities_spread_in_transposes_on_trn1() -> None:
    x = holding("float32", [[1, 2, 3], [math.nan, 4, math.inf], [5, 6, 7]])
    on_trn1 = Program({"x": x, "z": Tile("float32", (3, 3), "psum")}, [TRANSPOSE], "trn1")
    on_trn1.check()
    assert np.isnan(on_trn1.run()["z"]).tolist() == [[True] * 3, [False] * 3, [True, False, True]]
    Program({"x": x, "z": Tile("float32", (3, 3))}, [TRANSPOSE], "trn1").check()


TRANSPOSED = {
    "128x128": ((128, 128), X),
    "1x1": ((1, 1), X),
    "128x1": ((128, 1), X),
    "1x128": ((1, 128), X),
    "3-D": ((5, 3, 4), X),
    "permuted": ((5, 3, 4), X.then("permute", (0, 2, 1))),
    "strided": ((5, 12), X[:, ::3]),
    "partition-96": ((101, 7), X[96:101]),
    "repeated": ((5, 1, 4), X.then("broadcast", 1, 3)),
}


@pytest.mark.parametrize("layout", TRANSPOSED)
def test_layouts_of_transposes(layout: str) -> None:
    shape, x = TRANSPOSED[layout]
    data = filled("float32", shape)
    partitions, *free = x.of_array(data.data).shape
    z = Tile("float32", (math.prod(free), partitions), "psum")
    Program({"x": data, "z": z}, [call("nc_transpose", dst=Z, data=x)]).check()


RESULTS = {"3-D": ((6, 2, 2), Z), "strided": ((6, 8), Z[:, ::2]), "partition-32": ((38, 4), Z[32:])}


@pytest.mark.parametrize("layout", RESULTS)
@pytest.mark.parametrize("buffer", ["psum", "sbuf"])
def test_layouts_of_transposed_results(layout: str, buffer: str) -> None:
    shape, z = RESULTS[layout]
    tiles = {"x": filled("bfloat16", (4, 6)), "z": filled("bfloat16", shape, buffer, 1)}
    Program(tiles, [call("nc_transpose", dst=z, data=X)]).check()


@pytest.mark.parametrize(
    ("z", "x"),
    [(X, X), (X[0:4, 1:5], X[0:4, 0:4]), (X[0:4, 0:4], X[0:4, 1:5])],
    ids=["in-place", "to-the-right", "to-the-left"],
)
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_transposes_onto_their_data(z: View, x: View, dtype: str) -> None:
    arranged([call("nc_transpose", dst=z, data=x)], dtype, shape=(5, 5)).check()


def test_matmuls_add_to_results_of_a_transpose() -> None:
    calls = [call("nc_transpose", dst=Z[0:4, ALL], data=X), MATMUL.with_views({"x": View("w")})]
    tiles = {
        "x": whole_numbers("float32", (5, 4)),
        "y": whole_numbers("float32", (3, 5), seed=1),
        "w": whole_numbers("float32", (3, 6), seed=2),
        "z": Tile("float32", (6, 5), "psum"),
    }
    Program(tiles, calls).check()


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int16", "uint8", *PACKED_TYPES])
def test_integers_keep_their_bits_on_trn1(dtype: str) -> None:
    x = any_bits(dtype, (5, 9))
    program = Program({"x": x, "z": Tile(dtype, (9, 5), "psum")}, [TRANSPOSE], "trn1")
    assert program.run()["z"].tobytes() == x.data.T.tobytes()


@pytest.mark.parametrize("accumulate", [None, False])
def test_transpose_mode_overwrites(accumulate: bool | None) -> None:
    made = call("nc_matmul", **MATMUL.arguments, is_transpose=True, accumulate=accumulate)
    tiles = {
        "x": filled("float32", (4, 9)),
        "y": selecting([1, 3, 0, 2], 4),
        "z": Tile("float32", (9, 4), "psum"),
    }
    Program(tiles, [MATMUL, made]).check()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_hints_change_nothing(dtype: str) -> None:
    hints = {"is_stationary_onezero": True, "is_moving_onezero": True}
    made = call("nc_matmul", **MATMUL.arguments, **hints)
    tiles = {"z": Tile("float32", (6, 6), "psum")}
    arranged([made], dtype, whole_numbers, shape=(5, 6), tiles=tiles).check()


@pytest.mark.parametrize(
    "place", [((0, 96), (128, 32)), ((64, 64), (64, 64)), ((96, 0), (32, 128))]
)
def test_rows_and_columns_of_the_array(place: tuple[tuple[int, int], tuple[int, int]]) -> None:
    position, size = place
    made = call("nc_matmul", **MATMUL.arguments, tile_position=position, tile_size=size)
    tiles = {"z": Tile("float32", (6, 6), "psum")}
    arranged([made], fill=whole_numbers, shape=(5, 6), tiles=tiles).check()
