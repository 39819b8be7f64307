"""Random blocks to find addresses for, and the rules of addresses, read off the guide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

from nkijit.passes.analysis.addresses.allocation import Block, Space

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


def whole(size: int, address: tuple[int, int] | None = None, *, at: int = 0) -> Block:
    return Block(at, at, size, 128, address)
