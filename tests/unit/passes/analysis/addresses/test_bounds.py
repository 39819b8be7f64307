"""Lower bounds of memory for blocks, against exhaustive search and the plain rules."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from support.blocks import BANK, blocks, few, lowest, whole

from nkijit.passes.analysis.addresses.allocation import Block, Space
from nkijit.passes.analysis.addresses.bounds import (
    lower_bound,
    lower_bound_of_banks,
    surely_fits,
)


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
def test_the_bound_of_wide_blocks_is_the_memory_in_use(given_blocks: list[Block]) -> None:
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
def test_blocks_that_surely_fit_have_an_assignment(given_blocks: list[Block]) -> None:
    for space in (Space(12), Space(16, 4)):
        if surely_fits(given_blocks, space):
            assert lowest(given_blocks, space.bank, space.capacity) is not None


def test_fixed_blocks_that_share_bytes_count_once() -> None:
    assert lower_bound([whole(8, (0, 0)), whole(8, (0, 4))]).bytes == 12
    assert lower_bound([whole(8, (0, 0)), whole(8, (0, 0), at=1)]).bytes == 8


def test_a_bank_holds_one_block_that_fills_most_of_it() -> None:
    five = [whole(5) for _ in range(5)]
    assert lower_bound(five).bytes == 25  # of 32 bytes
    assert lower_bound_of_banks(five, BANK).bytes == 40
    assert lower_bound_of_banks([whole(4) for _ in range(8)], BANK).bytes == 0
    assert lower_bound_of_banks([whole(2 * BANK + 5)], BANK).bytes == 3 * BANK
    assert lower_bound_of_banks([whole(2 * BANK + 4)], BANK).bytes == 2 * BANK


def test_blocks_in_use_surely_fit_three_times() -> None:
    assert surely_fits([whole(4), whole(4, at=1)], Space(12))
    assert not surely_fits([whole(4), whole(4, at=1)], Space(11))
    assert not surely_fits([whole(4, (0, 0))], Space(12))
    assert surely_fits([whole(1)], Space(24, BANK))
    assert not surely_fits([whole(1)], Space(16, BANK))
