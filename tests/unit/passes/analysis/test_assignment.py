"""Lower bounds and assignments of addresses against exhaustive search and the plain rules."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nkijit.passes.analysis.allocation import (
    Block,
    Layout,
    Space,
    assign,
    lower_bound,
    lower_bound_of_banks,
    surely_fits,
)

BANK = 8
SBUF, PSUM = Space(24), Space(4 * BANK, BANK)

# ------------------------------------------------------------------ the rules, read off the guide


def first_partitions(partitions: int) -> tuple[int, ...]:
    if partitions > 64:
        return (0,)
    return (0, 64) if partitions > 32 else (0, 32, 64, 96)


def are_apart(one: Block, at: tuple[int, int], two: Block, there: tuple[int, int]) -> bool:
    """True when two blocks share no byte of a partition, or no time."""
    return (
        one.end < two.start
        or two.end < one.start
        or at[0] + one.partitions <= there[0]
        or there[0] + two.partitions <= at[0]
        or at[1] + one.size <= there[1]
        or there[1] + two.size <= at[1]
    )


def is_legal(block: Block, at: tuple[int, int], bank: int | None) -> bool:
    """True for an address that a block without a fixed one may have."""
    crosses = bank is not None and at[1] // bank != (at[1] + block.size - 1) // bank
    return (
        at[0] in first_partitions(block.partitions)
        and at[1] >= 0
        and at[1] % block.align == 0
        and not (crosses and bank is not None and at[1] % bank)
    )


def check(blocks: Sequence[Block], layout: Layout, bank: int | None) -> None:
    placed = list(zip(blocks, layout.addresses, strict=True))
    for block, at in placed:
        assert at == block.address if block.address is not None else is_legal(block, at, bank)
    for (one, at), (two, there) in combinations(placed, 2):
        if one.address is None or two.address is None:
            assert are_apart(one, at, two, there)
    assert layout.height == max((at[1] + block.size for block, at in placed), default=0)


def lowest(blocks: Sequence[Block], bank: int | None, most: int) -> int | None:
    """The height of the lowest assignment of all, up to `most`; None when there is none."""

    def heights(
        placed: list[tuple[Block, tuple[int, int]]], rest: Sequence[Block]
    ) -> Iterator[int]:
        if not rest:
            yield max((at[1] + block.size for block, at in placed), default=0)
            return
        block, *others = rest
        for first in first_partitions(block.partitions):
            for byte in range(most - block.size + 1):
                at = first, byte
                if is_legal(block, at, bank) and all(
                    are_apart(block, at, other, there) for other, there in placed
                ):
                    yield from heights([*placed, (block, at)], others)

    fixed = [(b, b.address) for b in blocks if b.address is not None]
    return min(heights(fixed, [b for b in blocks if b.address is None]), default=None)


# ------------------------------------------------------------------ random blocks


@st.composite
def blocks(draw: st.DrawFn, *, largest: int, times: int, fixed: bool = True) -> Block:
    start = draw(st.integers(0, times))
    size = draw(st.integers(1, largest))
    partitions = draw(st.sampled_from((128, 128, 100, 96, 64, 40, 32, 1)))
    address = None
    if fixed and draw(st.integers(0, 3)) == 0:
        byte = draw(st.integers(0, SBUF.capacity - largest))
        address = draw(st.integers(0, 128 - partitions)), byte
    align = draw(st.sampled_from((1, 1, 2, 4)))
    return Block(start, start + draw(st.integers(0, times)), size, partitions, address, align)


few = st.lists(blocks(largest=5, times=2), max_size=4)
many = st.lists(blocks(largest=12, times=20), max_size=40)


@settings(max_examples=300, deadline=None)
@given(many, st.sampled_from((SBUF, PSUM)), st.booleans())
def test_no_two_blocks_share_a_byte(given_blocks: list[Block], space: Space, best: bool) -> None:
    goal = lower_bound(given_blocks).bytes if best else None
    layout = assign(given_blocks, space, goal)
    check(given_blocks, layout, space.bank)
    assert layout.height >= lower_bound(given_blocks).bytes
    assert layout == assign(given_blocks, space, goal)


@settings(max_examples=60, deadline=None)
@given(few)
def test_no_assignment_is_below_the_lower_bound(given_blocks: list[Block]) -> None:
    exact = lowest(given_blocks, None, 14)
    if exact is not None:
        assert lower_bound(given_blocks).bytes <= exact


@settings(max_examples=60, deadline=None)
@given(few)
def test_no_assignment_has_fewer_banks_than_the_lower_bound(given_blocks: list[Block]) -> None:
    exact = lowest(given_blocks, 4, 16)
    if exact is not None:
        assert lower_bound_of_banks(given_blocks, 4).bytes <= -(-exact // 4) * 4


@settings(max_examples=300, deadline=None)
@given(st.lists(blocks(largest=12, times=20, fixed=False), max_size=40))
def test_the_bound_of_wide_blocks_is_what_is_in_use(given_blocks: list[Block]) -> None:
    wide = [b for b in given_blocks if b.partitions > 64]
    sums = [
        (sum(b.size for b in wide if b.start <= position <= b.end), -position)
        for position in range(42)
    ]
    expected, position = max(sums)
    peak = lower_bound(wide)
    assert (peak.bytes, peak.position) == ((expected, -position) if wide else (0, -1))


@settings(max_examples=60, deadline=None)
@given(st.lists(blocks(largest=4, times=3, fixed=False), max_size=4))
def test_what_surely_fits_has_an_assignment(given_blocks: list[Block]) -> None:
    for space in (Space(12), Space(16, 4)):
        if surely_fits(given_blocks, space):
            assert lowest(given_blocks, space.bank, space.capacity) is not None


# ------------------------------------------------------------------ examples


def whole(size: int, address: tuple[int, int] | None = None, *, at: int = 0) -> Block:
    return Block(at, at, size, 128, address)


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


def test_fixed_blocks_that_share_bytes_count_once() -> None:
    assert lower_bound([whole(8, (0, 0)), whole(8, (0, 4))]).bytes == 12
    assert lower_bound([whole(8, (0, 0)), whole(8, (0, 0), at=1)]).bytes == 8


def test_a_block_makes_way_for_one_that_is_fixed_there_later() -> None:
    long = Block(0, 9, 8, 128)
    assert assign([long, Block(5, 6, 4, 128, (0, 2))], SBUF).addresses[0] == (0, 6)
    assert assign([long, Block(10, 11, 4, 128, (0, 2))], SBUF).addresses[0] == (0, 0)


def test_a_bank_holds_one_block_that_fills_most_of_it() -> None:
    five = [whole(5) for _ in range(5)]
    assert lower_bound(five).bytes == 25  # of 32 bytes
    assert lower_bound_of_banks(five, BANK).bytes == 40
    assert lower_bound_of_banks([whole(4) for _ in range(8)], BANK).bytes == 0
    assert lower_bound_of_banks([whole(2 * BANK + 5)], BANK).bytes == 3 * BANK
    assert lower_bound_of_banks([whole(2 * BANK + 4)], BANK).bytes == 2 * BANK


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


def test_what_is_in_use_surely_fits_three_times() -> None:
    assert surely_fits([whole(4), whole(4, at=1)], Space(12))
    assert not surely_fits([whole(4), whole(4, at=1)], Space(11))
    assert not surely_fits([whole(4, (0, 0))], Space(12))
    assert surely_fits([whole(1)], Space(24, BANK))
    assert not surely_fits([whole(1)], Space(16, BANK))


def test_nothing_to_place() -> None:
    assert lower_bound([]).bytes == 0
    assert assign([], SBUF) == assign([], PSUM)
    assert surely_fits([], SBUF)
