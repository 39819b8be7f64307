"""Bytes of allocations that views touch, against the bytes that NumPy touches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.reach import fills
from nkijit.dialects.tiles import Indirection, TileInfo

ROWS, COLUMNS = 4, 8
WHOLE = TileInfo((ROWS, COLUMNS), DTYPES["float32"], MemoryRegion.sbuf, (COLUMNS, 1), 0)


def touched(view: TileInfo) -> set[int]:
    """The bytes of the allocation that a view touches; on chip, rows are partitions."""
    indices = np.indices(view.shape)
    strides = np.array(view.strides).reshape(-1, *[1] * len(view.shape))
    first = (view.offset + (indices * strides).sum(axis=0)) * view.dtype.itemsize
    return {int(byte) + i for byte in first.ravel() for i in range(view.dtype.itemsize)}


def view(dtype: str, strides: tuple[int, ...], shape: tuple[int, ...], offset: int = 0) -> TileInfo:
    return TileInfo(shape, DTYPES[dtype], MemoryRegion.sbuf, strides, offset)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (view("float32", (8, 1), (4, 8)), True),
        (view("float32", (8, 4, 1), (4, 2, 4)), True),
        (view("float32", (8, 1, 4), (4, 4, 2)), True),
        (view("float32", (8, -1), (4, 8), 7), True),
        (view("bfloat16", (16, 1), (4, 16)), True),
        (view("uint8", (32, 1), (4, 32)), True),
        (view("uint8", (32, 1), (4, 8)), False),
        (view("float32", (8, 1), (4, 7)), False),
        (view("float32", (8, 1, 0), (4, 4, 2)), False),
        (view("float32", (8, 2, 1), (4, 4, 2)), True),
        (view("float32", (8, 1, 1), (4, 4, 2)), False),
        (view("float32", (8, 1), (4, 8), 8), False),
        # As many elements, of which some are beside the partitions or their rows.
        (view("float32", (16, 1), (2, 16)), False),
        (view("float32", (8, 1), (2, 16)), False),
    ],
)
def test_fills(part: TileInfo, expected: bool) -> None:
    assert fills(WHOLE, part) is expected


def test_views_addressed_at_run_time_fill_nothing() -> None:
    part = TileInfo((4, 8), WHOLE.dtype, WHOLE.region, (8, 1), 0, Indirection.scalar)
    assert not fills(WHOLE, part)


@given(
    st.lists(st.tuples(st.integers(-8, 16), st.integers(1, 8)), min_size=1, max_size=3),
    st.integers(0, 8),
    st.sampled_from(["float32", "bfloat16", "uint8"]),
)
@settings(max_examples=400, deadline=None)
def test_views_that_fill_an_allocation_touch_all_of_it(
    pairs: list[tuple[int, int]], offset: int, dtype: str
) -> None:
    row = COLUMNS * 4 // DTYPES[dtype].itemsize
    part = view(dtype, (row, *[stride for stride, _ in pairs]), (4, *[n for _, n in pairs]), offset)
    if fills(WHOLE, part):
        assert touched(part) == set(range(ROWS * COLUMNS * 4))
