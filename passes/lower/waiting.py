"""Dependences of instructions: through memory, through registers, and declared by the author.

True, anti and output dependences are computed from the bytes of tiles, including earlier tiles at
the same bytes. A loop is walked twice; a dependence of the second iteration on the first is a
carried edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import Effect
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tuples import made
from nkijit.passes.analysis.bytes.bounding_boxes import BoundingBox
from nkijit.passes.analysis.flow.dependences import (
    Accesses,
    Dependence,
    DependenceKind,
    TrackedTile,
)
from nkijit.passes.analysis.flow.ranges import surely_runs
from nkijit.passes.lower.program import EngineInstruction, Item, Loop, Placement, Queue, Wait
from nkijit.passes.lower.reuse import Reuse, Tenant

_RINGS = frozenset(queue for queue in Queue if queue.is_ring)
"""The queues that `order.py` may reorder."""
Tags = tuple[bool, ...]
"""For each loop around an event, outermost first, whether the event is in the second iteration."""


class Waiting:
    """Adds edges to instructions, in a walk that creates an event per instruction.

    An instruction in a loop has an event in each of the two walked iterations.
    """

    def __init__(self, placement: Placement):
        self._accesses = Accesses(reordered=_RINGS)
        self._reuse = Reuse(placement)
        self._tiles: dict[int, tuple[TrackedTile, tuple[Tenant, BoundingBox] | None]] = {}
        """The tracked tile of each value, by `id`.

        A tile that shares bytes with other tiles also has its tenant (`reuse.py`) and bounding box.
        """
        self._events: list[EngineInstruction] = []
        """The instruction of each event."""
        self._tags: list[Tags] = []
        self._tag: Tags = ()
        self._registers: dict[SSAValue, _Register] = {}
        self._uncertain: dict[Loop | None, int] = {None: 0}
        """Identifies, for each loop, the innermost loop (itself or around it) that may not run.

        The value is 1 + `Loop.number`, or 0 if all of these loops certainly run.
        """

    # ---------------------------------------------------------------- loops

    @property
    def walks_again(self) -> bool:
        """Whether the walk is in the second iteration of some loop."""
        return any(self._tag)

    def add_loop(self, loop: Loop) -> None:
        """Add a loop to the analysis, before the first walk over its body."""
        certain = surely_runs(loop.op)
        self._uncertain[loop] = self._uncertain[loop.parent] if certain else 1 + loop.number

    def begin_iteration(self, *, second: bool) -> None:
        """Enter the first or the `second` walked iteration of the next loop."""
        self._tag = (*self._tag, second)

    def end_iteration(self) -> None:
        """Leave the iteration of the innermost loop."""
        self._tag = self._tag[:-1]

    # ---------------------------------------------------------------- events

    @property
    def last(self) -> int:
        """The number of the last event."""
        return len(self._events) - 1

    def event(self, instruction: EngineInstruction, done: Sequence[Effect]) -> None:
        """Add an event for an instruction, and the edges for dependences through its tiles."""
        events = self._events
        number = len(events)
        events.append(instruction)
        self._tags.append(self._tag)
        queue = instruction.queue
        block = self._uncertain[instruction.loop]
        if not done:
            self._accesses.add(queue, (), queue, block)
            return
        waiter = instruction.trigger or instruction
        tiles = self._tiles
        touched: list[tuple[TrackedTile, Role, bool]] = []
        shared: list[tuple[Tenant, BoundingBox, TrackedTile]] = []
        found: list[Dependence] = []
        for _, value, role, partial in done:
            tile, place = tiles.get(id(value)) or self._tile(value)
            touched.append((tile, role, partial))
            if place is None:
                continue
            tenant, box = place
            shared.append((tenant, box, tile))
            if role is not Role.read:
                found += [
                    made(Dependence, (before, DependenceKind.anti, value))
                    for before in tenant.earlier(box, tile.oldest_writer())
                ]
        found += self._accesses.add(queue, touched, waiter.queue, block)
        if waiter.loop is not None:
            for before, kind, value in found:
                self.edge(before, waiter, kind, value)
        elif found:
            # A fast path, equivalent to `edge`, for programs without loops.
            edges, ordered = waiter.edges, waiter.queue
            for before, kind, value in found:
                item = events[before]
                if item.loop is not None:
                    self.edge(before, waiter, kind, value)
                elif item.queue is not ordered:
                    edges.append(made(Wait, (item, False, kind, value)))
        for tenant, box, tile in shared:
            tenant.last = number
            tenant.accesses[id(tile.value), queue] = box, number

    def _tile(self, value: SSAValue) -> tuple[TrackedTile, tuple[Tenant, BoundingBox] | None]:
        base, tiles = base_of(value), self._tiles
        tenant = self._reuse.tenant_of(base)
        for tile in self._accesses.tiles_of(base):
            place = None if tenant is None else (tenant, tenant.box_of(tile.value))
            tiles[id(tile.value)] = tile, place
        return tiles[id(value)]

    def edge(
        self,
        event: int,
        waiter: EngineInstruction,
        kind: DependenceKind | None,
        value: SSAValue | None,
    ) -> None:
        """Add an edge from an event's instruction to `waiter`, if their queues differ."""
        before = self._events[event]
        if before.queue is waiter.queue:
            return
        if before.loop is None and waiter.loop is None:
            waiter.edges.append(made(Wait, (before, False, kind, value)))
            return
        tags, others = self._tag, self._tags[event]
        chain, other = _chain(waiter.loop), _chain(before.loop)
        for depth in range(min(len(chain), len(other))):
            if chain[depth] is not other[depth]:
                common = depth
                break
            if tags[depth] != others[depth]:
                first, then = _lift(before, other, depth + 1), _lift(waiter, chain, depth + 1)
                if first.queue is not then.queue:
                    then.edges.append(Wait(first, True, kind, value))
                return
        else:
            common = min(len(chain), len(other))
        if any(tags[:common]):
            return  # the same edge was added in the first iteration
        first, then = _lift(before, other, common), _lift(waiter, chain, common)
        if first.queue is not then.queue:
            then.edges.append(Wait(first, False, kind, value))

    # ---------------------------------------------------------------- registers

    def writer_of(self, register: SSAValue) -> int | None:
        """Return the last event that wrote a register; None if there is none."""
        found = self._registers.get(register)
        return None if found is None else found.writer

    def read_registers(self, instruction: EngineInstruction, registers: Sequence[SSAValue]) -> None:
        """Add edges for the registers that the instruction of the last event reads."""
        event = self.last
        for value in registers:
            register = self._registers.setdefault(value, _Register())
            if register.writer is not None:
                self.edge(register.writer, instruction, DependenceKind.true, value)
            register.readers[instruction.queue] = event

    def write_registers(
        self, instruction: EngineInstruction, registers: Iterable[SSAValue]
    ) -> None:
        """Add edges for the registers that the instruction of the last event writes."""
        event = self.last
        for value in registers:
            register = self._registers.setdefault(value, _Register())
            if register.writer is not None:
                self.edge(register.writer, instruction, DependenceKind.output, value)
            for reader in register.readers.values():
                self.edge(reader, instruction, DependenceKind.anti, value)
            register.writer = event
            register.readers.clear()


class _Register:
    __slots__ = ("readers", "writer")

    def __init__(self) -> None:
        self.writer: int | None = None
        self.readers: dict[Queue, int] = {}


def _chain(loop: Loop | None) -> list[Loop]:
    """Return the loops around an item, outermost first."""
    found: list[Loop] = []
    while loop is not None:
        found.append(loop)
        loop = loop.parent
    return found[::-1]


def _lift(instruction: EngineInstruction, chain: Sequence[Loop], depth: int) -> Item:
    """Return the instruction itself, or the loop at a given depth that contains the instruction."""
    return instruction if len(chain) == depth else chain[depth].queues[instruction.queue]
