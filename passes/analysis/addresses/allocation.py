"""The inputs and results of address assignment: blocks, spaces, layouts.

This module, `bounds.py` and `assignment.py` do not depend on IR. A `Block` has a size in bytes per
partition, a number of partitions, and the positions between which it is in use. A `Space` describes
one partition of SBUF or PSUM. A block of n partitions can begin at partition 0 if n > 64, at 0 or
64 if n > 32, else at 0, 32, 64 or 96 (`hardware.start_partitions`). So narrow blocks can be next to
each other at the same bytes. A block with a fixed address is placed there. Two fixed blocks may
overlap; another pass checks that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from nkijit.dialects.hardware.targets import PARTITIONS_PER_QUADRANT, Target


class Block(NamedTuple):
    """A tile that needs an on-chip address, with the positions between which it is in use."""

    start: int
    """The first position at which the block is in use."""
    end: int
    """The last position at which the block is in use."""
    size: int
    """The size of the block in bytes per partition."""
    partitions: int
    address: tuple[int, int] | None = None
    """The (partition, byte) of a fixed block; None if the address is to be assigned."""
    align: int = 1
    """The alignment in bytes of the block's first byte, unless the address is fixed."""


@dataclass(frozen=True, slots=True)
class Space:
    """The capacity of each partition of a memory."""

    capacity: int
    """The capacity in bytes per partition."""
    bank: int | None = None
    """Bytes of a bank, if the memory has banks; None otherwise.

    A block extends beyond the end of a bank only if it begins at the start of a bank.
    """

    @staticmethod
    def sbuf(target: Target) -> Space:
        """Return the space of SBUF that a kernel may use."""
        return Space(target.sbuf_usable_bytes)

    @staticmethod
    def psum(target: Target) -> Space:
        """Return the space of PSUM, with its banks."""
        return Space(target.psum_partition_bytes, target.psum_bank_bytes)


@dataclass(frozen=True, slots=True)
class Layout:
    """The addresses assigned to blocks."""

    addresses: Sequence[tuple[int, int]]
    """The (partition, byte) of each block, in the order of the input."""
    height: int
    """The byte after the last byte in use, per partition."""


QUADRANTS = 4


@lru_cache(maxsize=256)
def quadrants_of(partitions: int) -> int:
    """Return the smallest number of quadrants that contain a number of partitions."""
    return min(QUADRANTS, -(-partitions // PARTITIONS_PER_QUADRANT))
