"""Assignments of addresses against the plain rules."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.blocks import BANK, PSUM, SBUF, are_apart, is_legal, many, whole

from nkijit.passes.analysis.addresses.allocation import Block, Layout, Space
from nkijit.passes.analysis.addresses.assignment import assign
from nkijit.passes.analysis.addresses.bounds import lower_bound, surely_fits


def check(blocks: Sequence[Block], layout: Layout, bank: int | None) -> None:
    placed = list(zip(blocks, layout.addresses, strict=True))
    for block, at in placed:
        assert at == block.address if block.address is not None else is_legal(block, at, bank)
    for (one, at), (two, there) in combinations(placed, 2):
        if one.address is None or two.address is None:
            assert are_apart(one, at, two, there)
    assert layout.height == max((at[1] + block.size for block, at in placed), default=0)


@settings(max_examples=300, deadline=None)
@given(many, st.sampled_from((SBUF, PSUM)), st.booleans())
def test_no_two_blocks_share_a_byte(given_blocks: list[Block], space: Space, best: bool) -> None:
    goal = lower_bound(given_blocks).bytes if best else None
    layout = assign(given_blocks, space, goal)
    check(given_blocks, layout, space.bank)
    assert layout.height >= lower_bound(given_blocks).bytes
    assert layout == assign(given_blocks, space, goal)


@settings(max_examples=300, deadline=None)
@given(many, st.sampled_from((SBUF, PSUM)))
def test_gaps_found_by_their_sizes_are_those_found_by_looking_at_all(
    given_blocks: list[Block], space: Space
) -> None:
    tall = [block._replace(partitions=128, address=None) for block in given_blocks]
    later = max((block.end for block in tall), default=0) + 1
    # With one at a fixed address all gaps are looked at.
    fixed = Block(later, later, 1, 128, (0, 0), 1)
    one, two = assign(tall, space, quick=True), assign([*tall, fixed], space, quick=True)
    assert list(one.addresses) == list(two.addresses)[:-1]


@settings(max_examples=200, deadline=None)
@given(many, st.sampled_from((SBUF, PSUM)), st.integers(1, 8))
def test_quick_assignments_fit_or_are_given_up(
    given_blocks: list[Block], space: Space, parts: int
) -> None:
    capacity = max(space.capacity * parts // 8, 1)
    layout = assign(given_blocks, Space(capacity, space.bank), quick=True)
    if layout.height <= capacity:
        check(given_blocks, layout, space.bank)
    else:
        assert not layout.addresses


def test_an_assignment_that_is_too_high_is_given_up_only_if_it_is_quick() -> None:
    three = [Block(0, 0, 6, 128), Block(0, 1, 6, 128), Block(1, 1, 6, 128)]
    assert assign(three, Space(11), quick=True) == Layout(
        (), assign(three, Space(0), quick=True).height
    )
    assert assign(three, Space(12), quick=True).height == 12
    assert assign(three, Space(11)).height == 12


# ------------------------------------------------------------------ examples


def test_narrow_blocks_lie_beside_each_other() -> None:
    four = [Block(0, 0, 10, 32) for _ in range(4)]
    assert lower_bound(four).bytes == 10
    assert assign(four, SBUF).height == 10
    assert lower_bound([*four, Block(0, 0, 10, 1)]).bytes == 13  # 50 bytes in 4 quadrants
    assert assign([*four, Block(0, 0, 10, 1)], SBUF, 13).height == 20
    assert lower_bound([Block(0, 0, 10, 33), Block(0, 0, 10, 64)]).bytes == 10
    assert lower_bound([Block(0, 0, 10, 65), Block(0, 0, 10, 64)]).bytes == 20
    # Three halves on top of a wide block need one and a half times their height.
    assert lower_bound([Block(0, 0, 10, 96), *[Block(0, 0, 10, 64)] * 3]).bytes == 25
    assert lower_bound([Block(0, 0, 10, 96), Block(0, 0, 10, 32)]).bytes == 10
    assert assign([Block(0, 0, 10, 96), Block(0, 0, 10, 32)], SBUF).height == 10


def test_a_block_makes_way_for_one_that_is_fixed_there_later() -> None:
    long = Block(0, 9, 8, 128)
    assert assign([long, Block(5, 6, 4, 128, (0, 2))], SBUF).addresses[0] == (0, 6)
    assert assign([long, Block(10, 11, 4, 128, (0, 2))], SBUF).addresses[0] == (0, 0)


def test_blocks_share_banks_only_if_there_are_too_few() -> None:
    assert [at for _, at in assign([whole(2), whole(2)], PSUM).addresses] == [0, BANK]
    shared = assign([whole(4) for _ in range(8)], PSUM)
    assert shared.height == PSUM.capacity
    large = assign([whole(12), whole(4), whole(8)], PSUM)
    assert sorted(large.addresses)[0] == (0, 0)
    assert large.height <= PSUM.capacity


@pytest.mark.parametrize(
    ("count", "narrow", "gap"), [(30, 0.0, 0.05), (300, 0.0, 0.05), (300, 0.3, 0.15)]
)
def test_assignments_come_close_to_the_lower_bound(count: int, narrow: float, gap: float) -> None:
    """The mean over random instances is much lower; the gap is that of the worst."""
    sizes = (4, 64, 256, 512, 1024, 2048, 2048, 4096, 8192)
    for seed in range(8):
        rng = random.Random(seed)
        instance: list[Block] = []
        for _ in range(count):
            start = rng.randrange(2 * count)
            length = rng.randrange(count // 2) if rng.random() < 0.1 else int(rng.expovariate(0.05))
            partitions = rng.choice((1, 32, 64, 96)) if rng.random() < narrow else 128
            instance.append(Block(start, start + length, rng.choice(sizes), partitions, align=4))
        bound = lower_bound(instance).bytes
        assert assign(instance, Space(1 << 30), bound).height <= (1 + gap) * bound


def test_nothing_to_place() -> None:
    assert lower_bound([]).bytes == 0
    assert assign([], SBUF) == assign([], PSUM)
    assert surely_fits([], SBUF)
