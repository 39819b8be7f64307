"""Sets of bytes in partitions against sets of pairs."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nkijit.dialects.access import AccessPattern, Indirection
from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import DynamicPart, ViewOp
from nkijit.dialects.tiles import memref_type
from nkijit.ir.text import parse
from nkijit.passes.analysis.bytes.byte_sets import (
    NOWHERE,
    ByteSet,
    bytes_of,
    ranges,
    shifted,
    shown,
)
from nkijit.passes.analysis.flow.accumulators import lanes_of
from nkijit.passes.verify.accumulators import check_accumulators

ROWS, BYTES = 4, 6
Cells = frozenset[tuple[int, int]]
some = settings(max_examples=300, deadline=None, derandomize=True, database=None)


def bits(numbers: list[int]) -> int:
    return sum(1 << number for number in set(numbers))


def cells(region: ByteSet) -> Cells:
    found = [
        (row, byte)
        for rows, columns in region.pieces
        for row, byte in product(range(rows.bit_length()), range(columns.bit_length()))
        if rows >> row & 1 and columns >> byte & 1
    ]
    assert len(found) == len(set(found)), "pieces are disjoint"
    return frozenset(found)


boxes = st.tuples(
    st.lists(st.integers(0, ROWS - 1), min_size=1), st.lists(st.integers(0, BYTES - 1), min_size=1)
)


@st.composite
def regions(draw: st.DrawFn) -> ByteSet:
    region = NOWHERE
    for rows, columns in draw(st.lists(boxes, max_size=4)):
        box = ByteSet(((bits(rows), bits(columns)),))
        region = region - box if draw(st.booleans()) else region | box
    return region


@given(regions(), regions())
@some
def test_sets(one: ByteSet, two: ByteSet) -> None:
    a, b = cells(one), cells(two)
    assert cells(one | two) == a | b
    assert cells(one & two) == a & b
    assert cells(one - two) == a - b
    assert one.covers(two) == (a >= b)
    assert one.meets(two) == bool(a & b)
    assert one.shares_partitions(two) == bool({r for r, _ in a} & {r for r, _ in b})
    assert (one == two) == (a == b)
    assert bool(one) == bool(a)
    assert cells(shifted(one, 2, 3)) == {(row + 2, byte + 3) for row, byte in a}


def alloc(shape: tuple[int, ...], dtype: str, address: tuple[int, int] | None = None) -> AllocOp:
    return AllocOp.of(memref_type(DTYPES[dtype], shape, MemoryRegion.psum), address=address)


@pytest.mark.parametrize(
    ("access", "dtype"),
    [
        (AccessPattern(0, (12, 1), (4, 12)), "float32"),
        (AccessPattern(12, (12, 1), (2, 5)), "float32"),
        (AccessPattern(11, (12, -3), (4, 4)), "float32"),
        (AccessPattern(1, (12, 6, 2), (3, 2, 3)), "float32"),
        (AccessPattern(30, (12, 0), (1, 7)), "float32"),
        (AccessPattern(40, (-12, 1), (2, 3)), "float32"),
        (AccessPattern(5, (24, 2), (4, 9)), "bfloat16"),
        (AccessPattern(7, (48, 5), (4, 8)), "uint8"),
    ],
)
def test_tiles(access: AccessPattern, dtype: str) -> None:
    """The bytes of a view are those that NumPy touches."""
    base = alloc((4, 12), "float32")
    view = ViewOp.of(base.result, access, DTYPES[dtype])
    size = DTYPES[dtype].itemsize
    touched = np.zeros(4 * 12 * 4, np.bool_)
    for offset in access.offsets():
        touched[offset * size : (offset + 1) * size] = True
    rows, columns = np.nonzero(touched.reshape(4, 48))
    expected = set(zip(rows.tolist(), columns.tolist(), strict=True))
    assert cells(bytes_of(view.result)) == expected


def test_where_only_the_device_knows_all_bytes_count() -> None:
    base = alloc((4, 12), "float32")
    index = alloc((1, 1), "int32")
    part = DynamicPart(Indirection.scalar, index.result, 3, 4)
    view = ViewOp.of(base.result, AccessPattern(0, (12, 1), (2, 3)), dynamic=part)
    assert bytes_of(view.result) == bytes_of(base.result)


@given(st.sets(st.integers(0, 40)))
@some
def test_ranges(numbers: set[int]) -> None:
    found = ranges(bits(list(numbers)))
    assert [n for r in found for n in r] == sorted(numbers)
    assert all(one.stop < two.start for one, two in pairwise(found))


def test_numbers_as_text() -> None:
    assert shown(0b1011_0111) == "0 to 2, 4 to 5, 7"
    assert shown(0) == ""


def test_lanes_follow_the_address() -> None:
    placed = alloc((32, 8), "float32", (64, 2048))
    half = ViewOp.of(placed.result, AccessPattern(16 * 8, (8, 1), (16, 8)))
    assert lanes_of(placed.result) == slice(64, 96)
    assert lanes_of(half.result) == slice(80, 96)
    assert lanes_of(alloc((32, 8), "float32").result) == slice(0, 32)


def test_an_empty_kernel() -> None:
    module = parse("nki.kernel @k() target=trn3 {\nnki.return\n}")
    kernel = module.body.block.first_op
    assert isinstance(kernel, KernelOp)
    assert not list(check_accumulators(kernel))
