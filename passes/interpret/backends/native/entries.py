"""Records as entries of native code: a form, and the words of the instruction."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nkijit.passes.interpret import functions
from nkijit.passes.interpret.backends.native.elements import STORED, size_of
from nkijit.passes.interpret.backends.native.emit import scratch_bytes
from nkijit.passes.interpret.backends.native.forms import (
    AccumulatorForm,
    CopyForm,
    Fold,
    Form,
    Inner,
    MatmulForm,
    OperandForm,
    RowForm,
    TransposeForm,
)
from nkijit.passes.interpret.backends.native.graphs import (
    Graph,
    Node,
    Traced,
    UntraceableError,
    later_zero_wins,
)
from nkijit.passes.interpret.backends.native.layouts import merged, refined, strides_in
from nkijit.passes.interpret.backends.native.ufuncs import loop_of
from nkijit.passes.interpret.environment import Slots
from nkijit.passes.interpret.records import (
    AccumulatorUse,
    Applied,
    Arithmetic,
    Chain,
    Copy,
    Destination,
    Fill,
    Matmul,
    Record,
    Reduce,
    Source,
    Table,
    Transpose,
)

CONSTANTS, SCRATCH = 0, 1
"""Bases: addresses that are known already, and scratch."""
FIRST_SLOT = 2
"""The base of slot 0."""
MOST_LOOPS = 5


class UnsupportedError(Exception):
    """An instruction is one that NumPy computes."""


@dataclass
class Entry:
    """An instruction as native code runs it."""

    form: Form
    words: list[int]
    scratch: int = 0
    """Bytes of scratch that it takes."""
    bases: list[int] = field(default_factory=list[int])
    """The bases that it uses."""
    keep: list[Any] = field(default_factory=list[Any])
    """Arrays whose addresses are among the words."""


@dataclass(frozen=True)
class _Tile:
    """An operand: a base, a byte offset, and dimensions with strides in bytes."""

    base: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    element: str
    """How elements are stored."""


def entries_of(record: Record, slots: Slots) -> list[Entry]:
    """A record as entries, in order. Raises UnsupportedError where NumPy computes it."""
    make = _MAKERS.get(type(record))
    if make is None:
        raise UnsupportedError(type(record).__name__)
    try:
        return make(record, slots)
    except UntraceableError as error:
        raise UnsupportedError(str(error)) from None


# ------------------------------------------------------------------ operands


def _tile(operand: Source | Destination, slots: Slots) -> _Tile:
    tile = operand.tile
    if isinstance(operand, Source) and operand.lanes is not None:
        lanes = operand.lanes
        count = lanes.stop - lanes.start
        return _Tile(FIRST_SLOT + operand.slot, lanes.start * 4, (count, 1), (4, 4), "float32")
    if tile is None or tile.info.indirection is not None:
        raise UnsupportedError("an operand without a known address")
    info = tile.info
    access, stored = slots.access(tile.value), slots.stored(info.dtype)
    name = info.dtype.name
    if stored == np.dtype(np.float32) and name != "tfloat32":
        name = "float32"
    size = stored.itemsize
    strides = tuple(stride * size for stride in access.strides)
    base = FIRST_SLOT + slots.base(tile.base)
    return _Tile(base, access.offset * size, access.shape, strides, name)


def _known(tile: _Tile) -> _Tile:
    if tile.element not in STORED:
        raise UnsupportedError(f"{tile.element} is not converted here")
    return tile


def _rows_of(
    tile: _Tile, partitions: int
) -> tuple[tuple[int, int], tuple[int, ...], tuple[int, ...]]:
    """(partitions, stride), then the free dimensions with strides, of a tile as (P, N)."""
    count, stride = tile.shape[0], tile.strides[0]
    if count == partitions:
        return (count, stride), tile.shape[1:], tile.strides[1:]
    if count == 1:
        return (partitions, 0), tile.shape[1:], tile.strides[1:]
    raise UnsupportedError("rows that are no partitions")


def _overlapping(into: Destination, sources: Sequence[Source | None]) -> bool:
    """True when what is written may be read at another place than it is written."""
    pattern = into.tile.info
    if any(s == 0 and n > 1 for s, n in zip(pattern.strides, pattern.shape, strict=True)):
        return True
    return any(
        s is not None
        and s.tile is not None
        and s.tile.overlaps(into.tile)
        and not s.tile.covers(into.tile)
        for s in sources
    )


def _touches(into: Destination, sources: Sequence[Source | None]) -> bool:
    return any(s is not None and s.tile is not None and s.tile.overlaps(into.tile) for s in sources)


# ------------------------------------------------------------------ rows


class _Builder:
    """Collects what a form of rows has, and its words."""

    def __init__(self, slots: Slots):
        self.slots = slots
        self.graph = Graph()
        self.tiles: list[_Tile] = []
        self.numbers: list[float] = []

    def operand(self, tile: _Tile) -> int:
        """The number of an operand."""
        self.tiles.append(_known(tile))
        return len(self.tiles) - 1

    def number(self, value: Any) -> int:
        """The place of a float32."""
        self.numbers.append(float(value))
        return len(self.numbers) - 1

    def read(self, source: Source) -> Traced:
        """The values of an operand."""
        if source.tile is None and source.lanes is None:
            value = source.constant
            if not isinstance(value, np.float32):
                raise UnsupportedError("a constant that is no number")
            return Traced(
                self.graph, self.graph.add(Node("number", "f", detail=self.number(value)))
            )
        if source.dtype is None and source.lanes is None:
            raise UnsupportedError("stored bits are read")
        node = Node("load", "f", detail=self.operand(_tile(source, self.slots)))
        return Traced(self.graph, self.graph.add(node))

    def loop(self, ufunc: np.ufunc) -> int:
        """The place of a loop that combines two float32."""
        called = ufunc, "ff->f"
        loop_of(*called)
        if called not in self.graph.loops:
            self.graph.loops.append(called)
        return self.graph.loops.index(called)


def _fold(b: _Builder, word: str, *, accumulates: bool) -> tuple[Fold, str | None]:
    """How a row is combined, and how that meets what was there."""
    ufunc = _COMBINES.get(word)
    if ufunc is None:
        raise UnsupportedError(f"{word} of a row")
    loop = b.loop(ufunc)
    if word == "subtract":
        # Each element is subtracted in turn, from what was there.
        return Fold(loop, first=not accumulates), None
    start = _identity(ufunc)
    fold = Fold(loop, first=True) if start is None else Fold(loop, False, b.number(start))
    if word in ("maximum", "minimum") and accumulates and not later_zero_wins():
        raise UnsupportedError(f"{word} of accumulators")
    return fold, word


_COMBINES: dict[str, np.ufunc] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}


def _identity(ufunc: np.ufunc) -> float | None:
    """What NumPy begins a reduction with; None: the first element."""
    if ufunc.identity is None:
        return None
    return (
        float(ufunc.reduce(np.full(1, -0.0, np.float32)))
        if ufunc is np.add
        else float(ufunc.identity)
    )


def _traced(stage: Applied, x: Traced, operand: Traced | None) -> Traced:
    if stage.table is Table.running:
        raise UnsupportedError("a scan")
    out = Traced(x.graph, x.node)
    if stage.table is Table.activation:
        function: Any = functions.ACTIVATION[stage.word]
    elif operand is None:
        function = functions.UNARY[stage.word]
    else:
        function = functions.BINARY[stage.word]
    element = getattr(function, "of_elements", None)
    if element is not None:
        out.assign(element(x))
    elif operand is None:
        function(x, out)
    elif stage.reverse:
        function(operand, x, out)
    else:
        function(x, operand, out)
    return out


def _chain(record: Chain, slots: Slots) -> list[Entry]:
    if record.arithmetic is not Arithmetic.float32:
        raise UnsupportedError("integers")
    b = _Builder(slots)
    sources = [record.data, *(s.operand for s in record.stages)]
    if _overlapping(record.into, sources):
        raise UnsupportedError("operands that overlap")
    value = b.read(record.data)
    for stage in record.stages:
        value = _traced(stage, value, None if stage.operand is None else b.read(stage.operand))
    into = b.operand(_tile(record.into, slots))
    use = record.accumulators
    return [_row_entry(b, value.node, into, record.into, use, sources)]


def _row_entry(
    b: _Builder,
    result: int,
    into: int,
    destination: Destination,
    use: AccumulatorUse | None,
    sources: Sequence[Source | None],
) -> Entry:
    shape = destination.shape
    elementwise = len(b.tiles)
    accumulators = None
    if use is not None:
        accumulators = _accumulators(b, use, destination, sources)
    if len(shape) != 2 or destination.reshape not in (None, destination.tile.info.shape):
        if use is not None:
            raise UnsupportedError("accumulators of another shape")
    partitions = shape[0]
    free = math.prod(shape[1:])
    if use is None and any(_is_whole(t, math.prod(shape)) for t in b.tiles) and len(shape) != 2:
        return _flat_entry(b, result, into, math.prod(shape))
    frees: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    parts: list[int] = []
    for number, tile in enumerate(b.tiles):
        (_, stride), dims, strides = _rows_of(tile, partitions)
        parts.append(stride)
        size = math.prod(dims)
        if size == 1 and (free != 1 or number >= elementwise):
            dims, strides = (), ()
        elif size != free:
            raise UnsupportedError("operands of two sizes")
        frees.append((dims, strides))
    common = refined([dims for dims, _ in frees if dims] or [()])
    if common is None:
        raise UnsupportedError("dimensions that do not meet")
    inner = [
        strides_in(common, dims, strides) if dims else [0] * len(common) for dims, strides in frees
    ]
    if use is None:
        dims, strides = merged(
            [partitions, *common], [[p, *s] for p, s in zip(parts, inner, strict=True)]
        )
        rows = 0
    else:
        dims, strides = merged(common, inner)
        dims = [partitions, *(dims or [1])]
        strides = [[p, *(s or [0])] for p, s in zip(parts, strides, strict=True)]
        rows = 1
    return _finished(b, result, into, dims, strides, rows, accumulators, None, free)


def _is_whole(tile: _Tile, size: int) -> bool:
    return math.prod(tile.shape) == size


def _flat_entry(b: _Builder, result: int, into: int, size: int) -> Entry:
    """Operands of any dimensions, which correspond in row-major order."""
    if not all(_is_whole(tile, size) for tile in b.tiles):
        raise UnsupportedError("operands of two sizes")
    common = refined([tile.shape for tile in b.tiles])
    if common is None:
        raise UnsupportedError("dimensions that do not meet")
    inner = [strides_in(common, tile.shape, tile.strides) for tile in b.tiles]
    dims, strides = merged(common, inner)
    return _finished(b, result, into, dims, strides, 0, None, None, size)


def _finished(
    b: _Builder,
    result: int,
    into: int | None,
    dims: list[int],
    strides: list[list[int]],
    rows: int,
    accumulators: AccumulatorForm | None,
    reduced: tuple[Fold, int, bool, bool] | None,
    row: int,
) -> Entry:
    if not dims:
        dims, strides = [1], [[0] for _ in strides]
    if len(dims) > MOST_LOOPS:
        raise UnsupportedError("too many dimensions")
    forms: list[OperandForm] = []
    words = [dims[-1], *dims[:-1]]
    for tile, own in zip(b.tiles, strides, strict=True):
        size = size_of(tile.element)
        inner = Inner.strided
        if own[-1] == size or dims[-1] == 1:
            inner = Inner.contiguous
        elif own[-1] == 0:
            inner = Inner.same
        forms.append(OperandForm(tile.element, inner))
        words += [tile.base, tile.offset, *own]
    words += [struct.unpack("I", struct.pack("f", number))[0] for number in b.numbers]
    for called in b.graph.loops:
        words += loop_of(*called)
    words += [SCRATCH, 0]
    graph = b.graph
    form = RowForm(
        rows,
        len(dims) - rows - 1,
        tuple(forms),
        tuple(graph.nodes),
        len(graph.loops),
        len(b.numbers),
        result,
        into,
        accumulators,
        reduced,
    )
    scratch = scratch_bytes(form)
    if accumulators is not None or reduced is not None:
        scratch += 4 * row
    return Entry(form, words, scratch, [tile.base for tile in b.tiles])


def _accumulators(
    b: _Builder, use: AccumulatorUse, into: Destination, sources: Sequence[Source | None]
) -> AccumulatorForm:
    if use.keeps_last:
        raise UnsupportedError("accumulators that keep the last result")
    registers = b.operand(_tile(use.registers, b.slots))
    start = number = None
    if isinstance(use.start, Source):
        if use.start.tile is None:
            number = b.number(use.start.constant)
        else:
            if _touches(into, [use.start]):
                raise UnsupportedError("operands that overlap")
            start = b.operand(_tile(use.start, b.slots))
    elif use.start is not None:
        number = b.number(use.start)
    fold = combine = None
    if use.word is not None:
        fold, combine = _fold(b, use.word, accumulates=True)
    out = None
    if use.into is not None:
        others = [*sources, use.start if isinstance(use.start, Source) else None]
        if _touches(use.into, others) or into.tile.overlaps(use.into.tile):
            raise UnsupportedError("operands that overlap")
        out = b.operand(_tile(use.into, b.slots))
    return AccumulatorForm(registers, start, number, fold, combine, out, use.negate)


def _reduce(record: Reduce, slots: Slots) -> list[Entry]:
    if record.arithmetic is not Arithmetic.float32 or record.over_partitions:
        raise UnsupportedError("a reduction of another kind")
    if _touches(record.into, [record.source]):
        raise UnsupportedError("operands that overlap")
    b = _Builder(slots)
    value = b.read(record.source)
    fold, _ = _fold(b, record.word, accumulates=False)
    if record.divisor != 1:
        b.number(record.divisor)
    source = b.tiles[0]
    into_tile = _known(_tile(record.into, slots))
    into = b.operand(into_tile)
    kept = math.prod(record.into.shape)
    total = math.prod(source.shape)
    length = total // kept
    # The dimensions that are kept, then those that are combined.
    outer, taken = 1, 0
    while outer < kept:
        outer *= source.shape[taken]
        taken += 1
    if outer != kept:
        raise UnsupportedError("a part of a dimension is reduced")
    shapes = [source.shape[:taken], into_tile.shape]
    common = refined(shapes)
    if common is None:
        raise UnsupportedError("dimensions that do not meet")
    outer_dims, outer_strides = merged(
        common,
        [
            strides_in(common, source.shape[:taken], source.strides[:taken]),
            strides_in(common, into_tile.shape, into_tile.strides),
        ],
    )
    inner_dims, (inner_strides,) = merged(source.shape[taken:], [source.strides[taken:]])
    inner_dims, inner_strides = inner_dims or [1], inner_strides or [0]
    strides = [
        [*outer_strides[0], *inner_strides],
        [*outer_strides[1], *([0] * len(inner_dims))],
    ]
    reduced = fold, into, record.negate, record.divisor != 1
    entry = _finished(
        b,
        value.node,
        None,
        [*outer_dims, *inner_dims],
        strides,
        len(outer_dims),
        None,
        reduced,
        length,
    )
    return [entry]


# ------------------------------------------------------------------ movement


def _copy(record: Copy, slots: Slots) -> list[Entry]:
    if _touches(record.into, [record.source]):
        raise UnsupportedError("operands that overlap")
    if record.source.dtype is not None:
        b = _Builder(slots)
        value = b.read(record.source)
        into = b.operand(_tile(record.into, slots))
        return [_flat_entry(b, value.node, into, math.prod(record.into.shape))]
    if _overlapping(record.into, ()):
        raise UnsupportedError("elements that are written twice")
    source, into_tile = _tile(record.source, slots), _tile(record.into, slots)
    return [_moved(source, into_tile, _stored_size(record.into, slots))]


def _stored_size(operand: Destination, slots: Slots) -> int:
    return slots.stored(operand.dtype).itemsize


def _moved(source: _Tile, into: _Tile, size: int) -> Entry:
    common = refined([source.shape, into.shape])
    if common is None:
        raise UnsupportedError("dimensions that do not meet")
    dims, strides = merged(
        common,
        [strides_in(common, t.shape, t.strides) for t in (source, into)],
    )
    if not dims:
        dims, strides = [1], [[size], [size]]
    if len(dims) > MOST_LOOPS:
        raise UnsupportedError("too many dimensions")
    kinds = [
        Inner.contiguous if own[-1] == size else Inner.same if own[-1] == 0 else Inner.strided
        for own in strides
    ]
    words = [dims[-1], *dims[:-1]]
    for tile, own in zip((source, into), strides, strict=True):
        words += [tile.base, tile.offset, *own]
    return Entry(
        CopyForm(size, len(dims) - 1, kinds[0], kinds[1]), words, 0, [source.base, into.base]
    )


def _fill(record: Fill, slots: Slots) -> list[Entry]:
    if _overlapping(record.into, ()):
        raise UnsupportedError("elements that are written twice")
    into = _tile(record.into, slots)
    values = np.ascontiguousarray(record.values)
    if values.size == 1:
        strides = (0,) * len(into.shape)
    elif values.shape == into.shape:
        strides = values.strides
    else:
        raise UnsupportedError("values that broadcast")
    source = _Tile(CONSTANTS, values.ctypes.data, into.shape, strides, into.element)
    entry = _moved(source, into, values.itemsize)
    entry.keep.append(values)
    return [entry]


def filled(slot: int, elements: int, values: np.ndarray[Any, Any]) -> Entry:
    """All elements of a tensor become one value."""
    source = _Tile(CONSTANTS, values.ctypes.data, (elements,), (0,), "")
    into = _Tile(FIRST_SLOT + slot, 0, (elements,), (values.itemsize,), "")
    entry = _moved(source, into, values.itemsize)
    entry.keep.append(values)
    return entry


def _transpose(record: Transpose, slots: Slots) -> list[Entry]:
    if record.valid is not None or record.axes != (1, 0):
        raise UnsupportedError("a transpose of another kind")
    if _touches(record.into, [record.source]) or _overlapping(record.into, ()):
        raise UnsupportedError("operands that overlap")
    size = _stored_size(record.into, slots)
    source, into = _tile(record.source, slots), _tile(record.into, slots)
    rows, columns = source.shape[0], math.prod(source.shape[1:])
    if into.shape[0] != columns:
        raise UnsupportedError("a transpose of another kind")
    ends: list[tuple[_Tile, int, int]] = []
    for tile in (source, into):
        dims, (strides,) = merged(tile.shape[1:], [tile.strides[1:]])
        if len(dims) > 1:
            raise UnsupportedError("a transpose of more dimensions")
        ends.append((tile, tile.strides[0], strides[0] if strides else size))
    kinds = [Inner.contiguous if inner == size else Inner.strided for _, _, inner in ends]
    words = [columns, rows]
    for tile, outer, inner in ends:
        words += [tile.base, tile.offset, outer, inner]
    return [Entry(TransposeForm(size, kinds[0], kinds[1]), words, 0, [source.base, into.base])]


# ------------------------------------------------------------------ products


def _matmul(record: Matmul, slots: Slots) -> list[Entry]:
    if not isinstance(record.stationary, Source) or not isinstance(record.moving, Source):
        raise UnsupportedError("an MX product")
    if not isinstance(record.added, bool) and record.previous is not None:
        raise UnsupportedError("a product that is added in parts")
    entries: list[Entry] = []
    offset = 0
    places: list[tuple[int, int, int, int, int, int]] = []
    for source, width in zip((record.stationary, record.moving), record.into.shape, strict=True):
        if source.tile is None:
            raise UnsupportedError("a constant operand")
        tile = _known(_tile(source, slots))
        shape = math.prod(tile.shape) // width, width
        common = refined([shape, tile.shape])
        if common is None:
            raise UnsupportedError("dimensions that do not meet")
        strides = _as_matrix(tile, shape)
        if tile.element in ("float32", "tfloat32") and strides is not None:
            places.append((tile.base, tile.offset, *shape, *strides))
            continue
        dense = (shape[1] * 4, 4)
        b = _Builder(slots)
        value = b.read(source)
        scratch = _Tile(SCRATCH, offset, shape, dense, "float32")
        entry = _flat_entry(b, value.node, b.operand(scratch), math.prod(shape))
        entries.append(entry)
        places.append((SCRATCH, offset, *shape, *dense))
        offset += -(-math.prod(shape) * 4 // 64) * 64
    (k, m), n = places[0][2:4], places[1][3]
    into = _known(_tile(record.into, slots))
    direct = _as_matrix(into, (m, n)) if into.element == "float32" else None
    overlaps = _touches(record.into, [record.stationary, record.moving])
    if record.previous is None and direct is not None and direct[1] == 4 and not overlaps:
        product = into.base, into.offset, *direct
    else:
        product = SCRATCH, offset, n * 4, 4
    loop = loop_of(np.matmul, "ff->f")
    words = [m, k, n]
    words += [*places[0][:2], *places[1][:2], *product[:2]]
    # The stationary operand is transposed: its rows are what is summed over.
    words += [places[0][5], places[0][4], places[1][4], places[1][5], *product[2:]]
    used = [places[0][0], places[1][0], product[0]]
    entries.append(Entry(MatmulForm(), [*words, *loop], 0, used))
    if product[0] == SCRATCH:
        b = _Builder(slots)
        made = _Tile(SCRATCH, offset, (m, n), (n * 4, 4), "float32")
        value = Traced(b.graph, b.graph.add(Node("load", "f", detail=b.operand(made))))
        if record.previous is not None and record.added is not False:
            value = np.add(value, b.read(record.previous))
        entries.append(_flat_entry(b, value.node, b.operand(into), m * n))
        offset += m * n * 4
    # What entries convert with lies behind what they leave for each other.
    for entry in entries:
        if isinstance(entry.form, RowForm):
            entry.words[-1] = offset
        entry.scratch += offset
    return entries


def _as_matrix(tile: _Tile, shape: tuple[int, int]) -> tuple[int, int] | None:
    """The strides of a tile as a matrix, if it is one without being copied."""
    if tile.shape[0] != shape[0]:
        return None
    dims, (strides,) = merged(tile.shape[1:], [tile.strides[1:]])
    if len(dims) > 1:
        return None
    return tile.strides[0], strides[0] if strides else 4


_MAKERS: dict[type[Any], Callable[[Any, Slots], list[Entry]]] = {
    Chain: _chain,
    Reduce: _reduce,
    Copy: _copy,
    Fill: _fill,
    Transpose: _transpose,
    Matmul: _matmul,
}

__all__ = ["Entry", "UnsupportedError", "entries_of", "replace"]
