"""Fuses consecutive instructions: fewer passes over memory, with the same bits.

Temporary tiles that only these instructions access can be eliminated. Readers of a copy read the
source of the copy, element-wise values are computed in the instruction that uses them, and results
are written directly to the destination of a copy. The caller of `Fusion` specifies the temporary
tiles.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from nkijit.dialects.access import AccessPattern
from nkijit.passes.interpret.backends.native.forms import size_of
from nkijit.passes.interpret.backends.native.graphs import LOADS, Graph, Node
from nkijit.passes.interpret.backends.native.instructions import (
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
)
from nkijit.passes.interpret.records.environment import Step
from nkijit.passes.interpret.steps.body import Driver

MOST_NODES = 40
"""The largest number of nodes of a fused graph, because each form is compiled."""
MOST_OPERANDS = 8
_LOAD_OF = {"f": "load", "B": "load_bits", "H": "load_bits", "I": "load_bits"}
"""The load that reads a node's stored value unchanged, by the type of the node."""


@dataclass(frozen=True)
class Foreign:
    """A step that runs in Python, with the bases (memory areas) that it reads and writes."""

    step: Step
    driver: Driver | None
    read: frozenset[int]
    written: frozenset[int]


Item = NativeInstruction | Foreign


class Fusion:
    """Fuses the instructions of a body (a block of a plan), given as *items*."""

    def __init__(self, items: Sequence[Item], passing: Mapping[int, int], private: Collection[int]):
        """Index the accesses of the items.

        Args:
            items: the steps of the body, in order.
            passing: the size in bytes of each tensor that only these items access, by base.
            private: the bases that no other core accesses.
        """
        self.items: list[Item | None] = list(items)
        self._passing = passing
        self._private = private
        self._meetings = [
            number
            for number, item in enumerate(items)
            if isinstance(item, Foreign) and item.driver is not None
        ]
        """The numbers of the items at which other cores may run."""
        self._readers: dict[int, list[int]] = {}
        self._writers: dict[int, list[int]] = {}
        for number, item in enumerate(items):
            read, written = _bases(item)
            for base in read:
                self._readers.setdefault(base, []).append(number)
            for base in written:
                self._writers.setdefault(base, []).append(number)
        self.moved_to: dict[int, tuple[int, int]] = {}
        """For each base, the range (first, last) of items to which fusion has extended its use."""

    def run(self) -> list[Item]:
        """Fuse the instructions; returns the remaining items."""
        for number in range(len(self.items)):
            self._forward(number)
        for number in range(len(self.items)):
            self._fuse(number)
        for number in reversed(range(len(self.items))):
            self._write_directly(number)
        for number in range(len(self.items)):
            self._remove_unread(number)
        return [item for item in self.items if item is not None]

    # ---------------------------------------------------------------- properties of tiles

    def _sole_result(self, number: int) -> tuple[NativeInstruction, StridedTile] | None:
        """Return item `number` and its result, a temporary tile that it alone writes; else None."""
        item = self.items[number]
        if not isinstance(item, (Rows, Moved, Transposed, Product)):
            return None
        place = item.into if isinstance(item, Rows) else item.written[0]
        if isinstance(item, Reduced) or place is None:
            return None
        tile = item.tiles[place]
        size = item.size if isinstance(item, (Moved, Transposed)) else size_of(tile.element)
        if tile.size * size != self._passing.get(tile.base):
            return None
        if AccessPattern(tile.offset, tile.strides, tile.shape).repeats:
            return None  # some elements are written several times, and some are not
        if self._writers[tile.base] != [number]:
            return None
        return item, tile

    def _is_written(self, tile: StridedTile, first: int, last: int) -> bool:
        """True if items from `first` to before `last` may write to a tile."""
        if tile.base not in self._private and self._among(self._meetings, first, last):
            return True
        return any(
            self._writes(self.items[n], tile)
            for n in self._among(self._writers.get(tile.base, ()), first, last)
        )

    def _is_used(self, tile: StridedTile, first: int, last: int) -> bool:
        """True if items from `first` to before `last` may read or write a tile."""
        readers = self._among(self._readers.get(tile.base, ()), first, last)
        return self._is_written(tile, first, last) or any(
            self._reads(self.items[n], tile) for n in readers
        )

    @staticmethod
    def _among(numbers: Sequence[int], first: int, last: int) -> list[int]:
        return list(numbers[bisect_left(numbers, first) : bisect_left(numbers, last)])

    @staticmethod
    def _writes(item: Item | None, tile: StridedTile) -> bool:
        if isinstance(item, Foreign):
            return tile.base in item.written
        return item is not None and any(tile.may_overlap(other) for other in item.writes)

    @staticmethod
    def _reads(item: Item | None, tile: StridedTile) -> bool:
        if isinstance(item, Foreign):
            return tile.base in item.read
        return item is not None and any(tile.may_overlap(other) for other in item.reads)

    def _lives(self, tile: StridedTile, first: int, last: int) -> None:
        """Record that the base of a tile is in use at the items from `first` to `last`."""
        low, high = self.moved_to.get(tile.base, (first, last))
        self.moved_to[tile.base] = min(low, first), max(high, last)

    def _replace(self, number: int, item: NativeInstruction | None) -> None:
        old = self.items[number]
        assert old is not None
        for table, bases in zip((self._readers, self._writers), _bases(old), strict=True):
            for base in bases:
                table[base].remove(number)
        self.items[number] = item
        if item is None:
            return
        for table, bases in zip((self._readers, self._writers), _bases(item), strict=True):
            for base in bases:
                numbers = table.setdefault(base, [])
                numbers.append(number)
                numbers.sort()

    # ---------------------------------------------------------------- fusion

    def _forward(self, number: int) -> None:
        """If item `number` is a copy, let its readers read its source, and remove the copy."""
        result = self._sole_result(number)
        if result is None or not isinstance(result[0], Moved):
            return
        item, tile = result
        source = item.tiles[0]
        readers = list(self._readers.get(tile.base, ()))
        if source.base < FIRST_SLOT or not readers or source.shape != tile.shape:
            return
        if self._is_written(source, number, readers[-1] + 1):
            return
        changed: list[tuple[int, NativeInstruction]] = []
        for reader in readers:
            user = self.items[reader]
            if reader <= number or not isinstance(user, NativeInstruction):
                return
            user = user.copy()
            for place, operand in enumerate(user.tiles):
                if operand.base != tile.base:
                    continue
                if operand in user.writes:
                    return
                found = _through_copy(operand, tile, source)
                if found is None:
                    return
                user.tiles[place] = found
            if not _is_possible(user):
                return
            changed.append((reader, user))
        for reader, user in changed:
            self._replace(reader, user)
        self._replace(number, None)
        self._lives(source, number, readers[-1])

    def _fuse(self, number: int) -> None:
        """Move the computation of item `number` into the only instruction that reads its result."""
        result = self._sole_result(number)
        if result is None:
            return
        item, tile = result
        if not isinstance(item, Rows) or item.accumulators is not None:
            return
        readers = list(self._readers.get(tile.base, ()))
        if len(readers) != 1 or readers[0] <= number:
            return
        user = self.items[readers[0]]
        if not isinstance(user, Rows) or isinstance(user, Reduced):
            return
        sources = [t for place, t in enumerate(item.tiles) if place != item.into]
        if any(t.base == SCRATCH for t in sources):
            return  # other instructions overwrite scratch
        if any(self._is_written(t, number, readers[0]) for t in sources):
            return
        fused = _fused(item, tile, user)
        if fused is None or not _is_possible(fused):
            return
        for written in fused.writes:
            if any(t.may_overlap(written) and not t.same_place(written) for t in sources):
                return
        self._replace(readers[0], fused)
        self._replace(number, None)
        for source in sources:
            self._lives(source, number, readers[0])

    def _write_directly(self, number: int) -> None:
        """If only a copy reads the result of item `number`, write it to the copy's destination."""
        result = self._sole_result(number)
        if result is None:
            return
        item, tile = result
        readers = list(self._readers.get(tile.base, ()))
        if len(readers) != 1 or readers[0] <= number:
            return
        user = self.items[readers[0]]
        if not isinstance(user, Moved) or not user.tiles[0].same_place(tile):
            return
        into = user.tiles[1]
        if into.shape != tile.shape or self._is_used(into, number, readers[0]):
            return
        # Data types with the same bits may have different names.
        into = replace(into, element=tile.element)
        changed = item.copy()
        changed.tiles = [into if operand is tile else operand for operand in item.tiles]
        if not _is_possible(changed):
            return
        self._replace(number, changed)
        self._replace(readers[0], None)
        self._lives(into, number, readers[0])

    def _remove_unread(self, number: int) -> None:
        """Remove item `number` if nothing reads its result."""
        result = self._sole_result(number)
        if result is None or self._readers.get(result[1].base):
            return
        item, _ = result
        if not isinstance(item, Rows) or item.accumulators is None:
            self._replace(number, None)
            return
        assert item.into is not None
        changed = replace(item, written=[n for n in item.written if n != item.into], into=None)
        # The operand stays, unused, so that the others keep their numbers.
        self._replace(number, changed)


def _bases(item: Item) -> tuple[set[int], set[int]]:
    """Return the bases that an item reads, and the bases that an item writes."""
    if isinstance(item, Foreign):
        return set(item.read), set(item.written)
    return {tile.base for tile in item.reads}, {tile.base for tile in item.writes}


def _is_possible(item: NativeInstruction) -> bool:
    """True if native code can run an instruction."""
    try:
        item.entry()
    except UnsupportedError:
        return False
    return True


def _through_copy(view: StridedTile, copy: StridedTile, source: StridedTile) -> StridedTile | None:
    """Return the elements of `source` that correspond to `view`, a view of its copy.

    None if these elements do not form a strided tile.
    """
    if view.same_place(copy):
        return replace(source, element=view.element)
    if any(s <= 0 for n, s in zip(copy.shape, copy.strides, strict=True) if n != 1):
        return None
    dims = sorted(
        (
            (s, n, t)
            for n, s, t in zip(copy.shape, copy.strides, source.strides, strict=True)
            if n != 1
        ),
        reverse=True,
    )
    offset, left = source.offset, view.offset - copy.offset
    first: dict[int, int] = {}
    for stride, _, moved in dims:
        count, left = divmod(left, stride)
        first[stride] = count
        offset += count * moved
    if left:
        return None
    along = {stride: (count, moved) for stride, count, moved in dims}
    strides: list[int] = []
    for count, stride in zip(view.shape, view.strides, strict=True):
        if count == 1:
            strides.append(stride)
            continue
        if stride not in along or first[stride] + count > along[stride][0]:
            return None
        strides.append(along[stride][1])
    return StridedTile(source.base, offset, view.shape, tuple(strides), view.element)


def _fused(first: Rows, tile: StridedTile, second: Rows) -> Rows | None:
    """Return one instruction for `first` and `second` that does not store `tile`, or None.

    `tile` is the result of `first`, which `second` reads.
    """
    places = [n for n, operand in enumerate(second.tiles) if operand.base == tile.base]
    if len(first.graph.nodes) + len(second.graph.nodes) > MOST_NODES:
        return None
    if any(not second.tiles[n].same_place(tile) for n in places):
        return None
    if math.prod(first.shape) != math.prod(second.shape):
        return None  # a value per row would be recomputed for each element
    graph = Graph(list[Node](), list(first.graph.loops))
    # Operands: those of the first instruction, then those of the second except the tile.
    tiles: list[StridedTile] = []
    numbered: list[dict[int, int]] = [{}, {}]
    for which, row in enumerate((first, second)):
        for number, operand in enumerate(row.tiles):
            if (which == 0 and number == first.into) or (which == 1 and number in places):
                continue
            numbered[which][number] = len(tiles)
            tiles.append(operand)
    if len(tiles) > MOST_OPERANDS:
        return None
    numbers = [*first.numbers, *second.numbers]
    moved: dict[int, int] = {}
    for number, node in enumerate(first.graph.nodes):
        moved[number] = graph.add(_renumbered(node, moved, numbered[0], 0, {}))
    value = moved[first.result]
    kind = graph.nodes[value].type
    if kind == "q":
        return None  # fewer bits are stored
    if kind == "f" and tile.element != "float32":
        value = graph.add(Node("stored", "f", (value,), tile.element))
    loops: dict[int, int] = {}
    for number, called in enumerate(second.graph.loops):
        if called not in graph.loops:
            graph.loops.append(called)
        loops[number] = graph.loops.index(called)
    also: dict[int, int] = {}
    for number, node in enumerate(second.graph.nodes):
        if node.name in LOADS and node.detail in places:
            if node.name != _LOAD_OF[kind]:
                return None
            also[number] = value
            continue
        also[number] = graph.add(_renumbered(node, also, numbered[1], len(first.numbers), loops))
    renamed = numbered[1]
    use = second.accumulators
    if use is not None:
        fold = use.fold
        if fold is not None:
            start = fold.start + len(first.numbers) if fold.start >= 0 else fold.start
            fold = replace(fold, loop=loops[fold.loop], start=start)
        use = replace(
            use,
            registers=renamed[use.registers],
            start=None if use.start is None else renamed[use.start],
            number=None if use.number is None else use.number + len(first.numbers),
            fold=fold,
            into=None if use.into is None else renamed[use.into],
        )
    return Rows(
        tiles,
        [renamed[n] for n in second.written],
        [renamed[n] for n in second.updated],
        graph,
        numbers,
        also[second.result],
        None if second.into is None else renamed[second.into],
        second.shape,
        use,
        second.columns,
        second.scratch_at,
    )


def _renumbered(
    node: Node,
    nodes: Mapping[int, int],
    operands: Mapping[int, int],
    numbers: int,
    loops: Mapping[int, int],
) -> Node:
    inputs = tuple(nodes[n] for n in node.inputs)
    detail = node.detail
    if node.name in LOADS:
        detail = operands[detail]
    elif node.name == "number":
        detail += numbers
    elif node.name == "call":
        detail = loops.get(detail, detail)
    return node._replace(inputs=inputs, detail=detail)
