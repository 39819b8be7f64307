"""Selection of the tiles to spill to HBM when a program exceeds SBUF.

The program is walked in order. Before each instruction, all of its tiles must be in SBUF. When
memory runs out, the tile with the furthest next use is evicted (Belady's rule). A tile loaded from
a tensor that nothing writes is not stored: the load is repeated, and its first run is delayed until
the tile is used. Other contents are stored in HBM and loaded again.

The following tiles are not moved: tiles used in nested blocks (loops, `nl.no_reorder`), tiles with
a fixed address, and tiles that index other tiles.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from heapq import heappop, heappush
from itertools import accumulate

from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import effects
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nisa.movement import DmaCopyOp
from nkijit.dialects.nki.views import ViewOp, base_of, index_of, views_of
from nkijit.dialects.reach import fills
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.writes.liveness import Liveness, LiveRange


class Action(Enum):
    """An action on a tile before an instruction that needs the tile or its memory."""

    begin = "begin"
    """The tile gets memory, for contents that the instruction writes."""
    fill = "fill"
    """The tile gets memory, and the load that fills it runs."""
    store = "store"
    """The tile is stored in HBM."""
    load = "load"
    """The tile gets memory, and is loaded from its copy in HBM."""


@dataclass(frozen=True, slots=True)
class Step:
    """An action on a tile before an instruction."""

    position: int
    """The position of the instruction in the program."""
    tile: SSAValue
    action: Action
    filler: DmaCopyOp | None = None
    """For `fill`, the load that fills the tile."""
    repeated: bool = False
    """True if the filler has run before."""


@dataclass(frozen=True, slots=True)
class Residency:
    """The actions that make the tiles of a program fit into SBUF."""

    steps: list[Step]

    @property
    def moved(self) -> list[Step]:
        """The additional DMAs: stores and loads of spilled tiles, and loads that are repeated."""
        return [s for s in self.steps if s.repeated or s.action in (Action.store, Action.load)]

    @property
    def bytes(self) -> int:
        """The additional bytes that the DMA engines move."""
        tiles = (info_of(step.tile) for step in self.moved)
        return sum(tile.size * tile.dtype.itemsize for tile in tiles)


@dataclass(slots=True)
class _Use:
    position: int
    reads: bool
    """True if the use needs the tile's earlier contents."""
    writes: bool


@dataclass(slots=True, eq=False)
class _Tile:
    number: int
    """The tile's index in the order of allocation, which decides between equal next uses."""
    base: SSAValue
    size: int
    """The size of the tile in bytes per partition."""
    uses: list[_Use] = field(default_factory=list[_Use])
    done: int = 0
    """The number of the tile's uses that the walk has passed."""
    resident: bool = False
    filler: DmaCopyOp | None = None
    """A load that can restore the contents of the tile."""
    filled: bool = False
    """True if the filler has run."""
    stored: bool = False
    """True if HBM has a copy of the tile's contents."""

    @property
    def next_read(self) -> int | None:
        """The position of the next use, if it needs the tile's contents; None otherwise."""
        if self.done == len(self.uses):
            return None
        use = self.uses[self.done]
        return use.position if use.reads else None


def residency(live: Liveness, capacity: int) -> Residency | None:
    """Return actions that make the tiles of a program fit into SBUF.

    `capacity` is in bytes per partition. Returns None if an instruction's tiles, together with the
    tiles that cannot move, exceed the capacity.
    """
    return _Walk(live, capacity).run()


def peak(live: Liveness) -> int:
    """Return the largest number of bytes per partition of SBUF in use at one position."""
    return max(_across(live.ranges, len(live.instructions)), default=0)


def _across(ranges: Iterable[LiveRange], positions: int) -> list[int]:
    """Return the bytes per partition of SBUF in use at each position."""
    changes = [0] * (positions + 1)
    for live in ranges:
        if live.tile.region is MemoryRegion.sbuf:
            changes[live.start] += live.tile.partition_bytes
            changes[live.end + 1] -= live.tile.partition_bytes
    return list(accumulate(changes))


class _Walk:
    def __init__(self, live: Liveness, capacity: int):
        self._live = live
        self._block = live.kernel.body.block
        moving = [r for r in live.ranges if _can_move(r, self._block)]
        self._tiles: dict[SSAValue, _Tile] = {
            r.result: _Tile(number, r.result, r.tile.partition_bytes)
            for number, r in enumerate(moving)
        }
        staying = [r for r in live.ranges if r.result not in self._tiles]
        self._available = self._available_bytes(staying, capacity)
        self._written = {
            base_of(effect.value)
            for op in live.instructions
            for effect in effects(op)
            if effect.role is not Role.read
        }
        self._meets = any(type(op) in WAITING for op in live.instructions)
        """True if the kernel waits for other cores, which may write shared tensors."""
        self._used: list[list[_Tile]] = [
            self._uses(op, p) for p, op in enumerate(live.instructions)
        ]
        self._taken = 0
        """Bytes per partition that the resident tiles occupy."""
        self._heap: list[tuple[int, int, _Tile]] = []
        """A heap of resident tiles, the furthest next use first; it may have outdated entries."""
        self._steps: list[Step] = []

    def _available_bytes(self, staying: Iterable[LiveRange], capacity: int) -> list[int]:
        """Return the bytes per partition that movable tiles can use at each instruction.

        The first instruction of a loop gets the minimum over the loop, as nothing moves inside.
        """
        instructions = self._live.instructions
        available = [capacity - used for used in _across(staying, len(instructions))]
        for position in range(len(instructions) - 1, 0, -1):
            ancestor = self._ancestor_of(instructions[position])
            if ancestor is not None and ancestor is self._ancestor_of(instructions[position - 1]):
                available[position - 1] = min(available[position - 1], available[position])
                available[position] = capacity
        return available

    def _ancestor_of(self, op: Operation) -> Operation | None:
        """Return the operation of the kernel's own block that contains an instruction.

        None if the instruction is in the kernel's own block.
        """
        return None if op.parent is self._block else self._block.find_ancestor_op_in_block(op)

    def _uses(self, op: Operation, position: int) -> list[_Tile]:
        """Record an instruction's uses of movable tiles, and return these tiles."""
        found: dict[_Tile, _Use] = {}
        for effect in effects(op):
            base = base_of(effect.value)
            tile = self._tiles.get(base)
            if tile is None:
                continue
            use = found.setdefault(tile, _Use(position, False, False))
            part = effect.partial or not fills(info_of(base), info_of(effect.value))
            use.reads |= effect.role is not Role.write or part
            use.writes |= effect.role is not Role.read
        for tile, use in found.items():
            tile.uses.append(use)
        return list(found)

    def run(self) -> Residency | None:
        for position, op in enumerate(self._live.instructions):
            used = self._used[position]
            if not self._defer(op, used) and not self._arrive(position, used):
                return None
        return Residency(self._steps)

    def _defer(self, op: Operation, used: list[_Tile]) -> bool:
        """Delay a load until an instruction needs its tile; returns False if impossible."""
        if len(used) != 1 or type(op) is not DmaCopyOp or not self._fills(op, used[0]):
            return False
        (tile,) = used
        tile.done += 1
        if tile.next_read is None:
            tile.done -= 1
            return False
        self._leave(tile)
        tile.filler, tile.filled, tile.stored = op, False, False
        return True

    def _fills(self, op: DmaCopyOp, tile: _Tile) -> bool:
        """Whether a load fills a tile with the same contents at every position in the program."""
        if op.parent is not self._block or op.instruction_name is not None or op.runs_after:
            return False
        if any(index_of(value) is not None for value in op.operands):
            return False
        source = base_of(op.src)
        region = info_of(source).region
        if region.on_chip or source in self._written:
            return False
        if self._meets and region is not MemoryRegion.private_hbm:
            return False
        return not tile.uses[tile.done].reads

    def _arrive(self, position: int, used: list[_Tile]) -> bool:
        """Make the tiles of an instruction resident; returns False if memory is insufficient."""
        missing = sum(tile.size for tile in used if not tile.resident)
        if not self._evict(position, missing, used):
            return False
        for tile in used:
            use = tile.uses[tile.done]
            if not tile.resident:
                self._enter(position, tile, use)
            if use.writes:
                tile.filler, tile.filled, tile.stored = None, False, False
            tile.done += 1
            coming = tile.next_read
            if coming is None:
                self._leave(tile)
            else:
                heappush(self._heap, (-coming, tile.number, tile))
        return True

    def _enter(self, position: int, tile: _Tile, use: _Use) -> None:
        tile.resident = True
        self._taken += tile.size
        if use.reads and tile.filler is not None:
            step = Step(position, tile.base, Action.fill, tile.filler, tile.filled)
            tile.filled = True
        elif use.reads and tile.stored:
            step = Step(position, tile.base, Action.load)
        else:
            step = Step(position, tile.base, Action.begin)
        self._steps.append(step)

    def _leave(self, tile: _Tile) -> None:
        if tile.resident:
            tile.resident = False
            self._taken -= tile.size

    def _evict(self, position: int, missing: int, used: list[_Tile]) -> bool:
        available = self._available[position]
        if self._taken + missing <= available:
            return True
        held: list[tuple[int, int, _Tile]] = []
        while self._taken + missing > available and self._heap:
            entry = heappop(self._heap)
            tile = entry[2]
            if not tile.resident or tile.next_read != -entry[0]:
                continue  # outdated: evicted, or used since
            if tile in used:
                held.append(entry)
                continue
            if tile.filler is None and not tile.stored:
                self._steps.append(Step(position, tile.base, Action.store))
                tile.stored = True
            self._leave(tile)
        for entry in held:
            heappush(self._heap, entry)
        return self._taken + missing <= available


def _can_move(live: LiveRange, block: Block) -> bool:
    base = live.result
    if live.tile.region is not MemoryRegion.sbuf or live.alloc.fixed_address is not None:
        return False
    for value in (base, *views_of(base)):
        for use in value.uses:
            if type(use.operation) is ViewOp:
                if use.index != 0:
                    return False
            elif use.operation.parent is not block:
                return False
    return True
