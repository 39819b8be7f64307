"""Exact sets of bytes in partitions, for on-chip tiles.

A tile covers the same bytes in each of its partitions. So a set is a few products of partitions and
bytes, both represented as the bits of integers.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.nki.views import access_of, base_of, leaves_its_tensor
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.bytes.rows import partitions_of, start_of

Piece = tuple[int, int]
"""A set of partitions, and the bytes covered in each of them; both as bits of integers."""


@dataclass(frozen=True, slots=True)
class ByteSet:
    """A set of bytes in canonical form, so that equal sets compare equal.

    Partitions with the same bytes form one piece, and pieces are sorted by their bytes.
    """

    pieces: tuple[Piece, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.pieces)

    def covers(self, other: ByteSet) -> bool:
        """Whether the set contains every byte of the other set."""
        if self is other:
            return True
        if len(self.pieces) == len(other.pieces) == 1:
            (rows, columns), (other_rows, other_columns) = self.pieces[0], other.pieces[0]
            return rows & other_rows == other_rows and columns & other_columns == other_columns
        return not other - self

    def meets(self, other: ByteSet) -> bool:
        """Whether the sets have a byte in common."""
        if len(self.pieces) == len(other.pieces) == 1:
            (rows, columns), (other_rows, other_columns) = self.pieces[0], other.pieces[0]
            return rows & other_rows != 0 and columns & other_columns != 0
        return any(a & c and b & d for a, b in self.pieces for c, d in other.pieces)

    def shares_partitions(self, other: ByteSet) -> bool:
        """Whether the sets have a partition in common."""
        return any(a & c for a, _ in self.pieces for c, _ in other.pieces)

    def __and__(self, other: ByteSet) -> ByteSet:
        return _byte_set(
            [(a & c, b & d) for a, b in self.pieces for c, d in other.pieces if a & c and b & d]
        )

    def __or__(self, other: ByteSet) -> ByteSet:
        if not self.pieces or self is other:
            return other
        if self.covers(other):
            return self
        pieces: list[Piece] = []
        rest = list(self.pieces)
        for rows, columns in other.pieces:
            left: list[Piece] = []
            for a, b in rest:
                if a & rows:
                    pieces.append((a & rows, b | columns))
                    rows, a = rows & ~a, a & ~rows
                if a:
                    left.append((a, b))
            rest = left
            if rows:
                pieces.append((rows, columns))
        return _byte_set(pieces + rest)

    def __sub__(self, other: ByteSet) -> ByteSet:
        if not self.pieces or self is other:
            return NOWHERE
        pieces: list[Piece] = []
        for rows, columns in self.pieces:
            for a, b in other.pieces:
                if rows & a and columns & b:
                    if columns & ~b:
                        pieces.append((rows & a, columns & ~b))
                    rows &= ~a
            if rows:
                pieces.append((rows, columns))
        return _byte_set(pieces)


def _byte_set(pieces: list[Piece]) -> ByteSet:
    """Return the set that consists of pieces with disjoint partitions, in canonical form."""
    if len(pieces) > 1:
        rows_of: dict[int, int] = {}
        for rows, columns in pieces:
            rows_of[columns] = rows_of.get(columns, 0) | rows
        pieces = [(rows, columns) for columns, rows in sorted(rows_of.items())]
    return ByteSet(tuple(pieces))


NOWHERE = ByteSet()


def bytes_of(value: SSAValue) -> ByteSet:
    """Return the bytes that an on-chip tile covers, relative to its allocation.

    A tile counts as the whole allocation if its address is known only at run time, or if it reaches
    beyond its allocation.
    """
    tile = info_of(value)
    if tile.indirection is not None or leaves_its_tensor(value):
        return whole(value)
    access = access_of(value)
    first, count = partitions_of(value, access)
    rows = ((1 << count) - 1) << first
    columns = _columns(access, tile.dtype.itemsize, start_of(value, access)[1])
    return ByteSet(((rows, columns),))


def whole(value: SSAValue) -> ByteSet:
    """Return all bytes of a tile's allocation."""
    base = info_of(base_of(value))
    return ByteSet((((1 << base.partitions) - 1, (1 << base.partition_bytes) - 1),))


def _columns(access: AccessPattern, size: int, lowest: int) -> int:
    """Return the bytes of a partition that a view covers, as the bits of an integer.

    `size`: bytes of an element. `lowest`: the byte at which the first element begins.
    """
    bits = (1 << size) - 1
    for stride, count in zip(access.strides[1:], access.shape[1:], strict=True):
        step = abs(stride) * size
        if stride < 0:
            lowest -= step * (count - 1)
        done = 1
        while done < count and step:
            more = min(done, count - done)
            bits |= bits << step * more
            done += more
    return bits << lowest


def shifted(region: ByteSet, partitions: int, offset: int) -> ByteSet:
    """Move a set by a number of partitions and bytes."""
    return ByteSet(
        tuple((rows << partitions, columns << offset) for rows, columns in region.pieces)
    )


def ranges(bits: int) -> list[range]:
    """Return the runs of set bits, in ascending order."""
    found: list[range] = []
    first = 0
    while bits >> first:
        rest = bits >> first
        first += (rest & -rest).bit_length() - 1
        run = bits >> first
        end = first + (~run & (run + 1)).bit_length() - 1
        found.append(range(first, end))
        first = end
    return found


def shown(bits: int) -> str:
    """Format the numbers of the set bits: `0 to 63, 96`."""
    return ", ".join(
        f"{r.start} to {r.stop - 1}" if len(r) > 1 else str(r.start) for r in ranges(bits)
    )
