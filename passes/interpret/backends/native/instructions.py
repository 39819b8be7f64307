"""Native instructions with replaceable operands, and their table entries."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from nkijit.passes.interpret.backends.native.forms import (
    CONVERTED,
    AccumulatorForm,
    CopyForm,
    Fold,
    Inner,
    MatmulForm,
    NativeForm,
    OperandForm,
    RowForm,
    TransposeForm,
    scratch_bytes,
    size_of,
)
from nkijit.passes.interpret.backends.native.graphs import Graph
from nkijit.passes.interpret.backends.native.layouts import Shape, merged, refined, strides_in
from nkijit.passes.interpret.backends.native.ufuncs import loop_of

CONSTANTS, SCRATCH = 0, 1
"""Numbers of special bases: memory at known addresses, and scratch memory."""
FIRST_SLOT = 2
"""The number of the base for slot 0 of the environment; slot `n` has number `FIRST_SLOT + n`."""
MOST_LOOPS = 5
MOST_BYTES = 4
"""The size of the widest element in bytes."""


class UnsupportedError(Exception):
    """Native code does not support an instruction, so NumPy must compute it."""


@dataclass
class Entry:
    """An instruction as an entry of the table that native code executes."""

    form: NativeForm
    words: list[int]
    scratch: int
    """The number of bytes of scratch that the instruction needs."""
    bases: list[int]
    """The numbers of the bases that the instruction uses."""
    elements: int
    """The number of elements that the instruction computes; for a product, of multiplications."""


@dataclass(frozen=True, slots=True)
class StridedTile:
    """An operand: a base, a byte offset, and dimensions with strides in bytes."""

    base: int
    offset: int
    shape: Shape
    strides: Shape
    element: str
    """The name of the stored data type of the elements."""

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def reach(self) -> tuple[int, int]:
        """The lowest byte offset of an element, and one more than the highest byte offset."""
        spans = [s * (n - 1) for s, n in zip(self.strides, self.shape, strict=True)]
        low, high = sum(s for s in spans if s < 0), sum(s for s in spans if s > 0)
        return self.offset + low, self.offset + high + 1

    def may_overlap(self, other: StridedTile) -> bool:
        """True unless two tiles certainly share no byte."""
        if self.base != other.base:
            return False
        (low, high), (low2, high2) = self.reach, other.reach
        return low < high2 + MOST_BYTES - 1 and low2 < high + MOST_BYTES - 1

    def same_place(self, other: StridedTile) -> bool:
        """True if two tiles cover the same elements in the same order."""
        return (self.base, self.offset, self.element) == (
            other.base,
            other.offset,
            other.element,
        ) and _significant(self) == _significant(other)


def _significant(tile: StridedTile) -> list[tuple[int, int]]:
    return [(n, s) for n, s in zip(tile.shape, tile.strides, strict=True) if n != 1]


def known(tile: StridedTile) -> StridedTile:
    """Return the tile if native code can convert its elements, else raise UnsupportedError."""
    if tile.element not in CONVERTED:
        raise UnsupportedError(f"{tile.element} is not converted here")
    return tile


@dataclass
class NativeInstruction:
    """An instruction of native code."""

    tiles: list[StridedTile]
    written: list[int]
    """The numbers of the operands that are written; all others are read."""
    updated: list[int]
    """The numbers of the written operands that are read as well."""
    _entry: Entry | None = field(init=False, default=None)

    @property
    def reads(self) -> list[StridedTile]:
        """The tiles that the instruction reads."""
        only = set(self.written) - set(self.updated)
        return [tile for number, tile in enumerate(self.tiles) if number not in only]

    @property
    def writes(self) -> list[StridedTile]:
        """The tiles that the instruction writes."""
        return [self.tiles[number] for number in (*self.written, *self.updated)]

    def entry(self) -> Entry:
        """Return the instruction as a table entry. Raises UnsupportedError.

        The instruction's operands must not change afterwards.
        """
        if self._entry is None:
            self._entry = self.make_entry()
            ends = (t.reach[1] + MOST_BYTES for t in self.tiles if t.base == SCRATCH)
            self._entry.scratch = max(self._entry.scratch, *ends, 0)
        return self._entry

    def make_entry(self) -> Entry:
        """Compute the result of `entry`, which caches it."""
        raise NotImplementedError

    def copy(self) -> Self:
        """Return a copy whose operands can be replaced without changing the original."""
        return replace(self, tiles=list(self.tiles))


@dataclass
class Rows(NativeInstruction):
    """An element-wise graph whose results can be reduced or accumulated for each row."""

    graph: Graph = field(default_factory=Graph)
    numbers: list[int] = field(default_factory=list[int])
    """The bits of the form's numbers."""
    result: int = 0
    into: int | None = None
    shape: tuple[int, int] = (1, 1)
    """The number of partitions, and of elements per partition."""
    accumulators: AccumulatorForm | None = None
    columns: int = 0
    """The number of operands, at the end of the list, that have one element per row."""
    scratch_at: int = 0
    """The offset of the instruction's scratch memory in the body's scratch memory, in bytes."""

    def make_entry(self) -> Entry:
        partitions, free = self.shape
        whole = partitions * free
        if self.accumulators is None and all(tile.size == whole for tile in self.tiles):
            common = refined([tile.shape for tile in self.tiles])
            if common is None:
                raise UnsupportedError("dimensions that do not meet")
            inner = [strides_in(common, tile.shape, tile.strides) for tile in self.tiles]
            return self._finished(*merged(common, inner), rows=0)
        parts: list[int] = []
        frees: list[tuple[Shape, Shape]] = []
        for number, tile in enumerate(self.tiles):
            parts.append(_partition_stride(tile, partitions))
            dims, strides = tile.shape[1:], tile.strides[1:]
            size = math.prod(dims)
            if size == 1 and (free != 1 or number >= len(self.tiles) - self.columns):
                dims, strides = (), ()
            elif size != free:
                raise UnsupportedError("operands of two sizes")
            frees.append((dims, strides))
        common = refined([dims for dims, _ in frees if dims] or [()])
        if common is None:
            raise UnsupportedError("dimensions that do not meet")
        inner = [strides_in(common, d, s) if d else [0] * len(common) for d, s in frees]
        if self.accumulators is None:
            along = [[p, *s] for p, s in zip(parts, inner, strict=True)]
            return self._finished(*merged([partitions, *common], along), rows=0)
        dims, strides = merged(common, inner)
        strides = [[p, *(s or [0])] for p, s in zip(parts, strides, strict=True)]
        return self._finished([partitions, *(dims or [1])], strides, rows=1)

    def _finished(self, dims: list[int], strides: list[list[int]], rows: int) -> Entry:
        return row_entry(self, dims, strides, rows, None, self.shape[1])


def _partition_stride(tile: StridedTile, partitions: int) -> int:
    if tile.shape[0] == partitions:
        return tile.strides[0]
    if tile.shape[0] == 1:
        return 0
    raise UnsupportedError("rows that are no partitions")


def row_entry(
    row: Rows,
    dims: list[int],
    strides: list[list[int]],
    rows: int,
    reduced: tuple[Fold, int, bool, bool] | None,
    length: int,
) -> Entry:
    """Return the table entry of an instruction with the loops `dims`, `rows` of them over rows.

    `strides` has the strides of each operand in these loops. A row has `length` elements.
    """
    if not dims:
        dims, strides = [1], [[0] for _ in strides]
    if len(dims) > MOST_LOOPS:
        raise UnsupportedError("too many dimensions")
    forms: list[OperandForm] = []
    words = [dims[-1], *dims[:-1]]
    for tile, own in zip(row.tiles, strides, strict=True):
        inner = Inner.strided
        if own[-1] == size_of(tile.element) or dims[-1] == 1:
            inner = Inner.contiguous
        elif own[-1] == 0:
            inner = Inner.same
        forms.append(OperandForm(tile.element, inner))
        words += [tile.base, tile.offset, *own]
    words += row.numbers
    for called in row.graph.loops:
        words += loop_of(*called)
    words += [SCRATCH, row.scratch_at]
    form = RowForm(
        rows,
        len(dims) - rows - 1,
        tuple(forms),
        tuple(row.graph.nodes),
        len(row.graph.loops),
        len(row.numbers),
        row.result,
        row.into,
        row.accumulators,
        reduced,
    )
    scratch = row.scratch_at + scratch_bytes(form)
    if row.accumulators is not None or reduced is not None:
        scratch += 4 * length
    return Entry(form, words, scratch, [tile.base for tile in row.tiles], math.prod(dims))


@dataclass
class Reduced(Rows):
    """A reduction of the last dimensions of operand 0, stored in operand 1."""

    fold: Fold | None = None
    negate: bool = False
    divided: bool = False
    """True to divide the results by the last entry of `numbers`."""
    kept_dims: int = 1
    """The number of first dimensions of operand 0 that are not reduced."""

    def make_entry(self) -> Entry:
        source, into = self.tiles
        outer, outer_strides = source.shape[: self.kept_dims], source.strides[: self.kept_dims]
        common = refined([outer, into.shape])
        if common is None:
            raise UnsupportedError("dimensions that do not meet")
        dims, (first, second) = merged(
            common,
            [
                strides_in(common, outer, outer_strides),
                strides_in(common, into.shape, into.strides),
            ],
        )
        inner, (along,) = merged(source.shape[self.kept_dims :], [source.strides[self.kept_dims :]])
        inner, along = inner or [1], along or [0]
        strides = [[*first, *along], [*second, *([0] * len(inner))]]
        assert self.fold is not None
        reduced = self.fold, 1, self.negate, self.divided
        return row_entry(self, [*dims, *inner], strides, len(dims), reduced, math.prod(inner))


@dataclass
class Moved(NativeInstruction):
    """A copy of stored elements, from operand 0 to operand 1."""

    size: int = 4
    """The size of an element in bytes."""
    keep: Any = None
    """An array that must live as long as the instruction, which contains the array's address."""

    def make_entry(self) -> Entry:
        common = refined([tile.shape for tile in self.tiles])
        if common is None:
            raise UnsupportedError("dimensions that do not meet")
        dims, strides = merged(common, [strides_in(common, t.shape, t.strides) for t in self.tiles])
        if not dims:
            dims, strides = [1], [[self.size], [self.size]]
        if len(dims) > MOST_LOOPS:
            raise UnsupportedError("too many dimensions")
        words = [dims[-1], *dims[:-1]]
        kinds: list[Inner] = []
        for tile, own in zip(self.tiles, strides, strict=True):
            words += [tile.base, tile.offset, *own]
            kinds.append(
                Inner.contiguous
                if own[-1] == self.size
                else Inner.same
                if own[-1] == 0
                else Inner.strided
            )
        form = CopyForm(self.size, len(dims) - 1, *kinds)
        return Entry(form, words, 0, [tile.base for tile in self.tiles], math.prod(dims))


@dataclass
class Transposed(NativeInstruction):
    """A transpose of stored elements, from operand 0 to operand 1."""

    size: int = 4

    def make_entry(self) -> Entry:
        source, into = self.tiles
        words = [math.prod(source.shape[1:]), source.shape[0]]
        kinds: list[Inner] = []
        for tile in (source, into):
            strides = as_matrix(tile, tile.shape[0], self.size)
            if strides is None:
                raise UnsupportedError("a transpose of more dimensions")
            words += [tile.base, tile.offset, *strides]
            kinds.append(Inner.contiguous if strides[1] == self.size else Inner.strided)
        form = TransposeForm(self.size, *kinds)
        return Entry(form, words, 0, [source.base, into.base], source.size)


@dataclass
class Product(NativeInstruction):
    """A float32 product: operand 2 = transposed operand 0 (K, M) times operand 1 (K, N)."""

    shape: tuple[int, int, int] = (1, 1, 1)
    """The sizes M, K and N."""

    def make_entry(self) -> Entry:
        m, k, n = self.shape
        strides: list[int] = []
        for tile, rows in zip(self.tiles, (k, k, m), strict=True):
            found = as_matrix(tile, rows, 4)
            if found is None:
                raise UnsupportedError("an operand that is no matrix")
            # The rows of the first operand are summed over.
            strides += found[::-1] if not strides else found
        if strides[-1] != 4:
            raise UnsupportedError("an operand that is no matrix")
        words = [m, k, n]
        for tile in self.tiles:
            words += [tile.base, tile.offset]
        words += [*strides, *loop_of(np.matmul, "ff->f")]
        used = [tile.base for tile in self.tiles]
        return Entry(MatmulForm(), words, 0, used, m * k * n)


def as_matrix(tile: StridedTile, rows: int, size: int) -> tuple[int, int] | None:
    """Return the row and the column stride, in bytes, of a tile as a matrix with `rows` rows.

    None if that requires a copy. `size` is the column stride of a matrix with one column.
    """
    if tile.shape[0] != rows:
        return None
    dims, (strides,) = merged(tile.shape[1:], [tile.strides[1:]])
    if len(dims) > 1:
        return None
    return tile.strides[0], strides[0] if strides else size
