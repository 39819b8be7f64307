"""nc_stream_shuffle, local_gather and nc_n_gather."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nisa.harness import (
    Program,
    Tile,
    View,
    X,
    Z,
    any_bits,
    arranged,
    call,
    filled,
    holding,
    some,
)
from support.nisa.naive import STORAGE

from nkijit.passes.interpret.records.errors import InterpretationError

UNTOUCHED = 255
ROTATED = [(i - 1) % 32 for i in range(32)]

# -- nc_stream_shuffle ----------------------------------------------------------------------------


def shuffled(mask: list[int], dst: View = Z, src: View = X, **others: Any) -> Program:
    made = call("nc_stream_shuffle", dst=dst, src=src, shuffle_mask=mask)
    return arranged([made], **others)


@pytest.mark.parametrize("partitions", [1, 5, 32, 33, 64, 100, 128])
@pytest.mark.parametrize(
    "mask",
    [
        list(range(32)),
        [0] * 32,
        [UNTOUCHED, 0] * 16,
        [UNTOUCHED] * 32,
    ],
    ids=["identity", "broadcast", "every-second", "untouched"],
)
def test_shuffles(mask: list[int], partitions: int) -> None:
    shapes = {"x": (partitions, 3), "z": (partitions, 3)}
    tiles = {name: filled("float32", shapes[name], seed=seed) for seed, name in enumerate(shapes)}
    shuffled(mask, tiles=tiles).check()


@given(st.lists(st.sampled_from([*range(32), UNTOUCHED]), min_size=32, max_size=32))
@some
def test_any_mask(mask: list[int]) -> None:
    shapes = {"x": (64, 2), "z": (64, 2)}
    tiles = {name: filled("bfloat16", shapes[name], seed=seed) for seed, name in enumerate(shapes)}
    shuffled(mask, tiles=tiles).check()


@pytest.mark.parametrize("dtype", STORAGE)
def test_shuffles_keep_bits(dtype: str) -> None:
    program = shuffled(ROTATED, dtype=dtype, fill=any_bits, shape=(32, 9))
    moved = program.tiles["x"].data[ROTATED]
    assert program.run()["z"].tobytes() == moved.tobytes()


@pytest.mark.parametrize("mask", [ROTATED, [0] * 32, [31, UNTOUCHED] * 16], ids=str)
def test_shuffles_in_place(mask: list[int]) -> None:
    shuffled(mask, X, X, shape=(64, 5)).check()


@pytest.mark.parametrize("partitions", [1, 7, 32])
def test_one_partition_to_many(partitions: int) -> None:
    shuffled([0] * 32, shapes={"x": (1, 6), "z": (partitions, 6)}).check()


@pytest.mark.parametrize("buffers", [{"x": "psum"}, {"z": "psum"}, {"x": "psum", "z": "psum"}])
def test_buffers_of_shuffles(buffers: dict[str, str]) -> None:
    shuffled(ROTATED, shape=(32, 4), buffers=buffers).check()


def test_views_of_shuffles() -> None:
    shapes = {"x": (128, 4, 6), "z": (96, 3, 8)}
    dst = Z[32:64, :, 0:8:2].then("permute", (0, 2, 1))
    shuffled(ROTATED[::-1], dst, X[96:128, ::2, 0:6], shapes=shapes).check()
    shuffled([*ROTATED[:31], UNTOUCHED], dst, X[64:96, :, 1:4], shapes=shapes).check()


def test_a_partition_may_be_cut_into_any_pattern() -> None:
    """The start of a one-partition view does not depend on its step to the next partition."""
    row = X.then("ap", [(1, 1), (1, 4)], 8)
    shuffled([0] * 32, Z, row, shapes={"x": (4, 12), "z": (32, 4)}).check()


# -- local_gather ---------------------------------------------------------------------------------


def indices(shape: tuple[int, int], end: int, dtype: str = "uint16", step: int = 1) -> Tile:
    numbers = np.random.default_rng(0).integers(0, end, shape) // step * step
    return holding(dtype, numbers)


@pytest.mark.parametrize("partitions", [16, 32, 128])
@pytest.mark.parametrize(
    ("columns", "width", "valid"),
    [(1, 1, None), (3, 1, 48), (3, 4, 41), (2, 32, 1), (2, 8, None), (4, 2, 17), (1, 16, 16)],
)
def test_local_gather(partitions: int, columns: int, width: int, valid: int | None) -> None:
    count = columns * 16 if valid is None else valid
    made = call(
        "local_gather",
        dst=Z,
        src_buffer=X,
        index=View("i"),
        num_elem_per_idx=width,
        num_valid_indices=valid,
    )
    tiles = {"i": indices((partitions, columns), 40 - width + 1)}
    shapes = {"x": (partitions, 5, 8), "z": (partitions, count * width)}
    arranged([made], shapes=shapes, tiles=tiles).check()


@pytest.mark.parametrize("dtype", STORAGE)
def test_local_gather_keeps_bits(dtype: str) -> None:
    x = any_bits(dtype, (16, 9))
    tiles = {"x": x, "i": indices((16, 1), 9), "z": Tile(dtype, (16, 16))}
    program = arranged([call("local_gather", dst=Z, src_buffer=X, index=View("i"))], tiles=tiles)
    wanted = x.data[:, tiles["i"].data[:, 0]]
    assert program.run()["z"].tobytes() == wanted.tobytes()


def test_local_gather_onto_itself() -> None:
    made = call("local_gather", dst=X, src_buffer=X, index=View("i"))
    arranged([made], shape=(32, 32), tiles={"i": indices((32, 2), 32)}).check()


def test_views_of_local_gather() -> None:
    made = call(
        "local_gather",
        dst=Z[32:64].then("permute", (0, 2, 1)),
        src_buffer=X[32:64, 1:9:2],
        index=View("i")[0:32, 0:2],
        num_valid_indices=30,
    )
    tiles = {"i": indices((48, 3), 4)}
    arranged([made], shapes={"x": (64, 10), "z": (64, 5, 6)}, tiles=tiles).check()


@pytest.mark.parametrize(("width", "wrong"), [(1, 12), (4, 9), (1, 65535)])
def test_local_gather_beyond_the_partition(width: int, wrong: int) -> None:
    numbers = np.zeros((32, 2), np.uint16)
    numbers[19, 1] = wrong
    made = call("local_gather", dst=Z, src_buffer=X, index=View("i"), num_elem_per_idx=width)
    tiles = {"i": holding("uint16", numbers)}
    shapes = {"x": (32, 12), "z": (32, 32 * width)}
    found = rf"%i\[19, 1\] is {wrong}; 1 of 64 is out of 0 to {12 - width}\n"
    message = rf"local_gather: 'index' is out of bounds: {found}"
    with pytest.raises(InterpretationError, match=message):
        arranged([made], shapes=shapes, tiles=tiles).run()


def test_indices_that_are_not_valid_may_be_anything() -> None:
    numbers = np.zeros((16, 2), np.uint16)
    numbers[4:, 1] = 60000
    made = call("local_gather", dst=Z, src_buffer=X, index=View("i"), num_valid_indices=20)
    tiles = {"i": holding("uint16", numbers)}
    arranged([made], shapes={"x": (16, 12), "z": (16, 20)}, tiles=tiles).check()


# -- nc_n_gather ----------------------------------------------------------------------------------

N_GATHER = call("nc_n_gather", dst=Z, data=X, indices=View("i"))


@pytest.mark.parametrize(
    ("data", "index", "dst"),
    [
        ((4, 12), (4, 12), (4, 12)),
        ((1, 1), (1, 5), (1, 5)),
        ((128, 3), (128, 1), (128, 1)),
        ((3, 2, 600), (3, 700), (3, 7, 100)),
        ((5, 2, 3), (5, 4, 2), (5, 8)),
    ],
)
def test_n_gather(data: Any, index: Any, dst: Any) -> None:
    tiles = {"i": indices(index, math.prod(data[1:]), "uint32")}
    arranged([N_GATHER], shapes={"x": data, "z": dst}, tiles=tiles).check()


@pytest.mark.parametrize("dtype", STORAGE)
def test_n_gather_keeps_bits(dtype: str) -> None:
    x = any_bits(dtype, (4, 60))
    tiles = {"x": x, "i": indices((4, 30), 60, "uint32"), "z": Tile(dtype, (4, 30))}
    wanted = np.take_along_axis(x.data, tiles["i"].data.astype(np.intp), axis=1)
    assert arranged([N_GATHER], tiles=tiles).run()["z"].tobytes() == wanted.tobytes()


def test_n_gather_onto_itself() -> None:
    made = call("nc_n_gather", dst=X, data=X, indices=View("i"))
    arranged([made], tiles={"i": indices((4, 12), 12, "uint32")}).check()


def test_views_of_n_gather() -> None:
    made = call(
        "nc_n_gather",
        dst=Z[32:36, 1:9].then("reshape_dim", 1, (2, 4)).then("permute", (0, 2, 1)),
        data=X[:, ::2, 1:4],
        indices=View("i")[64:68, ::3],
    )
    tiles = {"i": indices((70, 24), 6, "uint32")}
    arranged([made], shapes={"x": (4, 4, 5), "z": (40, 10)}, tiles=tiles).check()


@pytest.mark.parametrize("wrong", [12, 2**31, 2**32 - 1])
def test_n_gather_beyond_the_partition(wrong: int) -> None:
    numbers = np.zeros((4, 12), np.uint32)
    numbers[2, 7] = wrong
    found = rf"%i\[2, 7\] is {wrong}; 1 of 48 is out of 0 to 11\n"
    message = rf"nc_n_gather: 'indices' is out of bounds: {found}"
    with pytest.raises(InterpretationError, match=message):
        arranged([N_GATHER], tiles={"i": holding("uint32", numbers)}).run()
