"""Translates records (descriptions of computations) to native instructions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nkijit.dialects.tiles import info_of
from nkijit.passes.interpret.backends.native.forms import AccumulatorForm, Fold, size_of
from nkijit.passes.interpret.backends.native.graphs import (
    Graph,
    Node,
    Traced,
    UntraceableError,
    later_zero_wins,
)
from nkijit.passes.interpret.backends.native.instructions import (
    CONSTANTS,
    FIRST_SLOT,
    SCRATCH,
    Moved,
    NativeInstruction,
    Product,
    Reduced,
    Rows,
    StridedTile,
    Transposed,
    UnsupportedError,
    as_matrix,
    known,
)
from nkijit.passes.interpret.backends.native.layouts import Shape
from nkijit.passes.interpret.backends.native.ufuncs import loop_of
from nkijit.passes.interpret.records.environment import Slots
from nkijit.passes.interpret.records.records import (
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
from nkijit.passes.numerics import operators as functions


def instructions_of(record: Record, slots: Slots) -> list[NativeInstruction]:
    """Return the native instructions for a record. Raises UnsupportedError if NumPy must run it."""
    make = _MAKERS.get(type(record))
    if make is None:
        raise UnsupportedError(type(record).__name__)
    try:
        return make(record, slots)
    except UntraceableError as error:
        raise UnsupportedError(str(error)) from None


def filled(slot: int, elements: int, value: np.ndarray[Any, Any]) -> NativeInstruction:
    """Return the instruction that sets all elements of a tensor to one value."""
    source = StridedTile(CONSTANTS, value.ctypes.data, (elements,), (0,), "")
    into = StridedTile(FIRST_SLOT + slot, 0, (elements,), (value.itemsize,), "")
    return Moved([source, into], [1], [], value.itemsize, value)


# ------------------------------------------------------------------ operands


_LINE = 64


def _tile(operand: Source | Destination, slots: Slots) -> StridedTile:
    tile = operand.tile
    if isinstance(operand, Source) and operand.lanes is not None:
        lanes = operand.lanes
        count = lanes.stop - lanes.start
        return StridedTile(
            FIRST_SLOT + operand.slot, lanes.start * 4, (count, 1), (4, 4), "float32"
        )
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
    found = StridedTile(base, access.offset * size, access.shape, strides, name)
    # NumPy rejects a view outside of its memory; native code would not notice it.
    low, high = found.reach
    of = info_of(tile.base).dtype
    memory = slots.reach(tile.base).size // of.itemsize * slots.stored(of).itemsize
    if found.size and not (low >= 0 and high - 1 + size <= memory):
        raise UnsupportedError("a tile outside of its tensor")
    return found


def _overlapping(into: Destination, sources: Sequence[Source | None]) -> bool:
    """True if an element may be read at an address at which another element is written."""
    if into.tile.info.pattern.repeats:
        return True
    return any(
        s is not None
        and s.tile is not None
        and s.tile.overlaps(into.tile)
        and not s.tile.covers(into.tile)
        for s in sources
    )


def _in_scratch(into: StridedTile) -> StridedTile:
    """Return a scratch tile for results that must not overwrite `into` while operands are read."""
    return _dense(0, into.shape, into.element)


def _dense(offset: int, shape: Shape, element: str) -> StridedTile:
    strides: list[int] = []
    size = size_of(element)
    for count in reversed(shape):
        strides.append(size)
        size *= count
    return StridedTile(SCRATCH, offset, shape, tuple(reversed(strides)), element)


def _scratch_bytes(tile: StridedTile) -> int:
    return -(-tile.size * size_of(tile.element) // _LINE) * _LINE


def _with_move(
    instruction: NativeInstruction, scratch: StridedTile, into: StridedTile
) -> list[NativeInstruction]:
    """Return an instruction and, unless `scratch` is `into`, a copy from `scratch` to `into`."""
    if scratch is into:
        return [instruction]
    if isinstance(instruction, Rows):
        instruction.scratch_at = _scratch_bytes(scratch)
    return [instruction, Moved([scratch, into], [1], [], size_of(into.element))]


def _touches(into: Destination, sources: Sequence[Source | None]) -> bool:
    return any(s is not None and s.tile is not None and s.tile.overlaps(into.tile) for s in sources)


# ------------------------------------------------------------------ rows


class _Builder:
    """Collects the operands, numbers and graph of an instruction over rows."""

    def __init__(self, slots: Slots):
        self.slots = slots
        self.graph = Graph()
        self.tiles: list[StridedTile] = []
        self.numbers: list[int] = []

    def operand(self, tile: StridedTile) -> int:
        self.tiles.append(known(tile))
        return len(self.tiles) - 1

    def number(self, value: Any) -> int:
        """Add a float32 number and return its index."""
        return self._add_number(np.float32(value).view(np.uint32))

    def _add_number(self, bits: Any) -> int:
        self.numbers.append(int(bits))
        return len(self.numbers) - 1

    def value(self, node: Node) -> Traced:
        """Add a node to the graph, and return its value."""
        return Traced(self.graph, self.graph.add(node))

    def read(self, source: Source) -> Traced:
        """Add an operand or a constant, and return its float32 values."""
        if source.tile is None and source.lanes is None:
            constant: Any = source.constant
            if type(constant) is not np.float32:
                raise UnsupportedError("a constant that is no number")
            return self.value(Node("number", "f", detail=self.number(constant)))
        if source.dtype is None and source.lanes is None:
            raise UnsupportedError("stored bits are read")
        return self.load(_tile(source, self.slots))

    def load(self, tile: StridedTile) -> Traced:
        """Add a tile as an operand, and return its float32 values."""
        return self.value(Node("load", "f", detail=self.operand(tile)))

    def bits(self, source: Source, template: StridedTile) -> Traced:
        """Add an operand, and return its stored bits.

        Its elements must have the width of the elements of `template`.
        """
        width = size_of(template.element)
        kind = _UNSIGNED[width]
        if source.tile is None:
            constant: Any = source.constant
            if not isinstance(constant, np.ndarray) or constant.nbytes != width:
                raise UnsupportedError("a constant of another width")
            place = self._add_number(constant.reshape(()).view(f"u{width}")[()])
            return self.value(Node("number", kind, detail=place))
        tile = _tile(source, self.slots)
        if size_of(tile.element) != width:
            raise UnsupportedError("bits of another width")
        self.tiles.append(tile)
        return self.value(Node("load_bits", kind, detail=len(self.tiles) - 1))

    def integers(self, source: Source) -> Traced:
        """Add an operand, and return its integers as 64-bit integers."""
        if source.tile is None:
            raise UnsupportedError("a constant operand")
        place = self.operand(_tile(source, self.slots))
        return self.value(Node("load_integer", "q", detail=place))

    def loop(self, ufunc: np.ufunc) -> int:
        """Return the index of a ufunc's loop for two float32 operands; add the loop if missing."""
        called = ufunc, "ff->f"
        loop_of(*called)
        if called not in self.graph.loops:
            self.graph.loops.append(called)
        return self.graph.loops.index(called)

    def rows(self, value: Traced, into: StridedTile, shape: Sequence[int], **more: Any) -> Rows:
        """Return the instruction that stores `value` in `into`; `shape` begins with the rows."""
        self.tiles.append(known(into) if value.type == "f" else into)
        number = len(self.tiles) - 1
        rows = (shape[0], math.prod(shape[1:]))
        return Rows(
            self.tiles, [number], [], self.graph, self.numbers, value.node, number, rows, **more
        )


def _fold(b: _Builder, word: str, *, accumulates: bool) -> tuple[Fold, str | None]:
    """Return the reduction of a row, and the operation that adds the previous value.

    `accumulates`: the reduction continues with a previous value.
    """
    ufunc = _COMBINES.get(word)
    if ufunc is None:
        raise UnsupportedError(f"{word} of a row")
    loop = b.loop(ufunc)
    if word == "subtract":
        # Elements are subtracted one by one, from the previous value.
        return Fold(loop, first=not accumulates), None
    if ufunc.identity is None:
        if accumulates and not later_zero_wins():
            raise UnsupportedError(f"{word} of accumulators")
        return Fold(loop, first=True), word
    # The sign of the zero with which NumPy begins a sum depends on its version.
    start = ufunc.reduce(np.full(1, -0.0, np.float32)) if word == "add" else ufunc.identity
    return Fold(loop, first=False, start=b.number(start)), word


_COMBINES: dict[str, np.ufunc] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}


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
    if isinstance(function, functions.InDouble):
        out.assign(function.of_elements(x))
    elif operand is None:
        function(x, out)
    elif stage.reverse:
        function(operand, x, out)
    else:
        function(x, operand, out)
    return out


def _chain(record: Chain, slots: Slots) -> list[NativeInstruction]:
    b = _Builder(slots)
    sources = [record.data, *(s.operand for s in record.stages)]
    if _overlapping(record.into, ()):
        raise UnsupportedError("elements that are written twice")
    into = _tile(record.into, slots)
    value = _VALUES[record.arithmetic](record, b)
    if value.type in "BHI" and size_of(into.element) != value.dtype.itemsize:
        raise UnsupportedError("bits of another width")
    if record.accumulators is None:
        scratch = _in_scratch(into) if _overlapping(record.into, sources) else into
        return _with_move(b.rows(value, scratch, record.into.shape), scratch, into)
    if _overlapping(record.into, sources):
        raise UnsupportedError("operands that overlap")
    if len(record.into.shape) != 2:
        raise UnsupportedError("accumulators of another shape")
    rows = b.rows(value, into, record.into.shape)
    _accumulate(b, rows, record.accumulators, record.into, sources)
    return [rows]


def _floats(record: Chain, b: _Builder) -> Traced:
    value = b.read(record.data)
    for stage in record.stages:
        value = _traced(stage, value, None if stage.operand is None else b.read(stage.operand))
    return value


def _bits(record: Chain, b: _Builder) -> Traced:
    template = _tile(record.data, b.slots)
    value = b.bits(record.data, template)
    for stage in record.stages:
        out = Traced(b.graph, value.node)
        function = functions.BITVEC[stage.word]
        if stage.operand is None:
            function(value, out)
        else:
            pair = value, b.bits(stage.operand, template)
            function(*(pair[::-1] if stage.reverse else pair), out)
        value = out
    return value


def _integers(record: Chain, b: _Builder) -> Traced:
    (stage,) = record.stages
    assert stage.operand is not None
    x, y = b.integers(record.data), b.integers(stage.operand)
    return functions.INTEGER[stage.word](x, y).astype(np.int64)


_VALUES: dict[Arithmetic, Callable[[Chain, _Builder], Traced]] = {
    Arithmetic.float32: _floats,
    Arithmetic.bits: _bits,
    Arithmetic.integers: _integers,
}
_UNSIGNED = {1: "B", 2: "H", 4: "I"}
"""The node type of bit patterns, by their width in bytes."""


def _accumulate(
    b: _Builder,
    rows: Rows,
    use: AccumulatorUse,
    into: Destination,
    sources: Sequence[Source | None],
) -> None:
    if use.keeps_last:
        raise UnsupportedError("accumulators that keep the last result")
    elements = len(b.tiles)
    registers = b.operand(_tile(use.registers, b.slots))
    rows.updated.append(registers)
    start = number = fold = combine = out = None
    if isinstance(use.start, Source):
        if use.start.tile is None:
            number = b.number(use.start.constant)
        else:
            if _touches(into, [use.start]):
                raise UnsupportedError("operands that overlap")
            start = b.operand(_tile(use.start, b.slots))
    elif use.start is not None:
        number = b.number(use.start)
    if use.word is not None:
        fold, combine = _fold(b, use.word, accumulates=True)
    if use.into is not None:
        others = [*sources, use.start if isinstance(use.start, Source) else None]
        if _touches(use.into, others) or into.tile.overlaps(use.into.tile):
            raise UnsupportedError("operands that overlap")
        out = b.operand(_tile(use.into, b.slots))
        rows.written.append(out)
    rows.columns = len(b.tiles) - elements
    rows.accumulators = AccumulatorForm(registers, start, number, fold, combine, out, use.negate)


def _reduce(record: Reduce, slots: Slots) -> list[NativeInstruction]:
    if record.arithmetic is not Arithmetic.float32 or record.over_partitions:
        raise UnsupportedError("a reduction of another kind")
    if _touches(record.into, [record.source]):
        raise UnsupportedError("operands that overlap")
    b = _Builder(slots)
    value = b.read(record.source)
    fold, _ = _fold(b, record.word, accumulates=False)
    if record.divisor != 1:
        b.number(record.divisor)
    (source,) = b.tiles
    into = known(_tile(record.into, slots))
    kept_dims = 0
    while math.prod(source.shape[:kept_dims]) < into.size:
        kept_dims += 1
    if math.prod(source.shape[:kept_dims]) != into.size:
        raise UnsupportedError("a part of a dimension is reduced")
    return [
        Reduced(
            [source, into],
            [1],
            [],
            b.graph,
            b.numbers,
            value.node,
            fold=fold,
            negate=record.negate,
            divided=record.divisor != 1,
            kept_dims=kept_dims,
        )
    ]


# ------------------------------------------------------------------ movement


def _copy(record: Copy, slots: Slots) -> list[NativeInstruction]:
    if _overlapping(record.into, ()):
        raise UnsupportedError("elements that are written twice")
    into = _tile(record.into, slots)
    scratch = _in_scratch(into) if _touches(record.into, [record.source]) else into
    if record.source.dtype is not None:
        b = _Builder(slots)
        return _with_move(b.rows(b.read(record.source), scratch, into.shape), scratch, into)
    size = slots.stored(record.into.dtype).itemsize
    copied = Moved([_tile(record.source, slots), scratch], [1], [], size)
    return _with_move(copied, scratch, into)


def _fill(record: Fill, slots: Slots) -> list[NativeInstruction]:
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
    source = StridedTile(CONSTANTS, values.ctypes.data, into.shape, strides, into.element)
    return [Moved([source, into], [1], [], values.itemsize, values)]


def _transpose(record: Transpose, slots: Slots) -> list[NativeInstruction]:
    if record.valid is not None or record.axes != (1, 0):
        raise UnsupportedError("a transpose of another kind")
    if _overlapping(record.into, ()):
        raise UnsupportedError("elements that are written twice")
    source, into = _tile(record.source, slots), _tile(record.into, slots)
    if into.shape[0] != math.prod(source.shape[1:]):
        raise UnsupportedError("a transpose of another kind")
    scratch = _in_scratch(into) if _touches(record.into, [record.source]) else into
    size = slots.stored(record.into.dtype).itemsize
    return _with_move(Transposed([source, scratch], [1], [], size), scratch, into)


# ------------------------------------------------------------------ products


def _matmul(record: Matmul, slots: Slots) -> list[NativeInstruction]:
    if not isinstance(record.stationary, Source) or not isinstance(record.moving, Source):
        raise UnsupportedError("an MX product")
    if not isinstance(record.added, bool) and record.previous is not None:
        raise UnsupportedError("a product that is added in parts")
    m, n = record.into.shape
    instructions: list[NativeInstruction] = []
    operands: list[StridedTile] = []
    used_bytes = 0
    for source, width in ((record.stationary, m), (record.moving, n)):
        if source.tile is None:
            raise UnsupportedError("a constant operand")
        tile = known(_tile(source, slots))
        rows = tile.size // width
        if tile.element in ("float32", "tfloat32") and as_matrix(tile, rows, 4) is not None:
            operands.append(tile)
            continue
        b = _Builder(slots)
        scratch = _dense(used_bytes, (rows, width), "float32")
        instructions.append(b.rows(b.read(source), scratch, (rows, width)))
        operands.append(scratch)
        used_bytes += _scratch_bytes(scratch)
    into = known(_tile(record.into, slots))
    matrix = as_matrix(into, m, 4) if into.element == "float32" else None
    alone = not _touches(record.into, [record.stationary, record.moving])
    shape = m, operands[0].size // m, n
    if record.previous is None and matrix is not None and matrix[1] == 4 and alone:
        instructions.append(Product([*operands, into], [2], [], shape))
    else:
        product = _dense(used_bytes, (m, n), "float32")
        instructions.append(Product([*operands, product], [2], [], shape))
        b = _Builder(slots)
        value = b.load(product)
        if record.previous is not None and record.added is not False:
            value = value + b.read(record.previous)
        instructions.append(b.rows(value, into, (m, n)))
        used_bytes += _scratch_bytes(product)
    for each in instructions:
        if isinstance(each, Rows):
            # Its own scratch follows the tiles that instructions pass to each other.
            each.scratch_at = used_bytes
    return instructions


_MAKERS: dict[type[Any], Callable[[Any, Slots], list[NativeInstruction]]] = {
    Chain: _chain,
    Reduce: _reduce,
    Copy: _copy,
    Fill: _fill,
    Transpose: _transpose,
    Matmul: _matmul,
}
