"""What is known of live tiles when addresses are sought for them: blocks, spaces, layouts.

Nothing here knows IR, nor do `bounds.py` and `assignment.py`, which work on it. A `Block` is bytes
per partition, a number of partitions and the positions between which it is in use; a `Space` is
what one partition of SBUF or PSUM has. A block of n partitions can begin at partition 0 when
n > 64, at 0 or 64 when n > 32, else at 0, 32, 64 or 96 (`hardware.start_partitions`), so narrow
blocks may lie beside each other. A block with a fixed address lies where it is fixed; two of them
may share bytes, which is for another pass to judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from nkijit.dialects.hardware.targets import PARTITIONS_PER_QUADRANT, Target


class Block(NamedTuple):
    """A tile as an assignment sees it."""

    start: int
    """The first position at which it is in use."""
    end: int
    """The last one."""
    size: int
    """Bytes per partition."""
    partitions: int
    address: tuple[int, int] | None = None
    """The fixed (partition, byte) where it lies."""
    align: int = 1
    """What its first byte is a multiple of, unless it is fixed."""


@dataclass(frozen=True, slots=True)
class Space:
    """What every partition of a memory has."""

    capacity: int
    """Bytes per partition."""
    bank: int | None = None
    """Bytes of a bank; a block crosses the border of one only if it began at a border."""

    @staticmethod
    def sbuf(target: Target) -> Space:
        """The part of SBUF that a kernel may use."""
        return Space(target.sbuf_usable_bytes)

    @staticmethod
    def psum(target: Target) -> Space:
        """PSUM with its banks."""
        return Space(target.psum_partition_bytes, target.psum_bank_bytes)


@dataclass(frozen=True, slots=True)
class Layout:
    """An assignment of addresses."""

    addresses: Sequence[tuple[int, int]]
    """(partition, byte) of every block, in the order in which they were given."""
    height: int
    """The byte after the last one in use."""


QUADRANTS = 4


@lru_cache(maxsize=256)
def quadrants_of(partitions: int) -> int:
    """How many quadrants so many partitions are in, at least."""
    return min(QUADRANTS, -(-partitions // PARTITIONS_PER_QUADRANT))
