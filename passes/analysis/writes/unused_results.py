"""Executions of instructions whose results nothing uses.

A forward walk finds, for each execution, the executions whose results are its inputs, and the
execution that overwrites its result. A result is used if a print, a caller, a register of a
sequencer or another used execution needs it, or if it remains in the accumulators of an engine. A
backward pass marks the used results.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import NamedTuple, cast

from xdsl.dialects.builtin import UnknownLoc
from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.effects import effects, registers_written
from nkijit.dialects.hardware.words import MemoryRegion, engine, reduce_cmd
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa.cores import SendrecvOp
from nkijit.dialects.nki.allocation import DECLARATIONS
from nkijit.dialects.nki.kernel import DevicePrintOp, KernelOp
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.flow.accumulators import accumulator_command, accumulator_lanes
from nkijit.passes.analysis.flow.dependences import NO_EVENT, Accesses, TrackedTile
from nkijit.passes.analysis.flow.matmul_writes import where_matmuls_add
from nkijit.passes.analysis.flow.ranges import Ranges


@dataclass(slots=True)
class CallResults:
    """The results of one call in the source, over all iterations of unrolled loops."""

    op: NisaOp
    """The first execution whose result is not used."""
    executions: int = 0
    on_device: bool = False
    """Whether the call is in a loop on the device. Two iterations of such a loop are counted."""
    overwritten: int = 0
    """The number of executions whose results other calls overwrite before any use."""
    overwritten_by_itself: int = 0
    """The number of executions whose results this call itself overwrites before any use."""
    overwriter: Operation | None = None
    """The first operation that overwrites one of the unused results."""
    remaining: int = 0
    """The number of executions whose results nothing uses or overwrites."""
    serves_unused: bool = False
    """Whether other calls with unused results read the results of this call."""

    @property
    def unused(self) -> int:
        """The number of executions whose results are not used."""
        return self.overwritten + self.overwritten_by_itself + self.remaining


def call_of(op: Operation) -> tuple[Hashable, ...]:
    """Return a key of the source call of an operation; without a location, the key is unique."""
    if isinstance(op.location, UnknownLoc):
        return (op,)
    return (type(op), op.location, *[result.name_hint for result in op.results])


def unused_results(kernel: KernelOp) -> list[CallResults]:
    """Return the source calls with unused results, in program order.

    A call is executed once per iteration of the loops around it. The function returns a call if the
    result of at least one execution is not used. The final contents of tensors in HBM count as
    used. `kernel` is the program of one core.
    """
    walk = _Walk(kernel)
    walk.block(kernel.body.block)
    return walk.results()


class _Loop(NamedTuple):
    """The loops on the device around an execution."""

    on_device: bool = False
    """Whether the execution is in a loop on the device."""
    optional: Operation | None = None
    """The innermost of these loops that may run zero times; None if every loop runs."""


_NO_LOOP = _Loop()


class _Accumulated(NamedTuple):
    """An execution whose reduction the accumulators of an engine hold."""

    number: int
    lanes: slice


class _Walk:
    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        self.ops: list[Operation] = []
        """The operation of each execution."""
        self.sources: list[Collection[int]] = []
        """For each execution, the executions whose results it reads."""
        self.loops: list[_Loop] = []
        """The loops around each execution."""
        self.overwriters: dict[int, int] = {}
        """For each execution, by number: the last execution that overwrote part of its result."""
        self._accesses = Accesses()
        self._accumulated: dict[engine, list[_Accumulated]] = {}
        """For each engine, the executions whose reductions its accumulators hold."""
        self._ranges: Ranges | None = None
        found = where_matmuls_add(kernel)
        self._overwriting = {id(op) for op, adds in found if adds is False}
        """The `id` of each matmul that overwrites its destination without adding."""

    def block(self, block: Block, again: bool = False, loop: _Loop = _NO_LOOP) -> None:
        """Walk a block; `again`: this is the second walk of the loop around it."""
        for op in block.ops:
            if is_instruction(op) or type(op) is DevicePrintOp:
                self._execute(op, loop)
            elif op.regions and type(op) not in DECLARATIONS:
                inner = loop
                repeats = False
                if isinstance(op, (ForOp, WhileOp)):
                    least, most = self._trip_counts(op)
                    inner = _Loop(True, loop.optional if least else op)
                    # One second walk covers all loops around: one per loop would double the work
                    # at every level.
                    repeats = not again and most != 1
                for second in (False, True) if repeats else (again,):
                    for region in op.regions:
                        self.block(region.block, second, inner)

    def _trip_counts(self, op: ForOp | WhileOp) -> tuple[int, int | None]:
        if isinstance(op, WhileOp):
            return 0, None
        self._ranges = self._ranges or Ranges(self.kernel)
        return self._ranges.trip_counts(op)

    def _execute(self, op: Operation, loop: _Loop) -> None:
        number = len(self.ops)
        self.ops.append(op)
        self.loops.append(loop)
        sources: list[int] = []
        written: list[TrackedTile] = []
        tiles = self._accesses.tiles
        for _, value, role, partial in effects(op):
            tile = tiles.get(id(value)) or self._accesses.track(value)
            if role is Role.read:
                sources += tile.writers()
                continue
            written.append(tile)
            adds = role is Role.update and id(op) not in self._overwriting
            if adds or partial or not tile.known:
                sources += tile.writers()
            else:
                for before in tile.writers():
                    if before == NO_EVENT:
                        continue
                    if loop.optional is None or loop.optional is self.loops[before].optional:
                        self.overwriters[before] = number
                    else:
                        sources.append(before)  # it is not overwritten if the loop does not run
        for tile in written:
            tile.write(number)
        if is_instruction(op) and op.SPEC.accumulators is not None:
            sources += self._accumulate(op, op.SPEC.accumulators.engine, number)
        self.sources.append(sources)

    def _accumulate(self, op: NisaOp, owner: engine, number: int) -> list[int]:
        """Update the accumulators; return the executions whose reductions `op` continues."""
        command = accumulator_command(op)
        held = self._accumulated.setdefault(owner, [])
        continues = command in (reduce_cmd.idle, reduce_cmd.reduce)
        continued = [execution.number for execution in held] if continues else []
        if command is not reduce_cmd.idle:
            lanes, optional = accumulator_lanes(op), self.loops[number].optional
            held[:] = [
                other
                for other in held
                if not _covers(lanes, other.lanes)
                or optional not in (None, self.loops[other.number].optional)
            ]
            held.append(_Accumulated(number, lanes))
        return continued

    # ------------------------------------------------------------ results

    def results(self) -> list[CallResults]:
        used, last = self._used()
        unused = [n for n, is_used in enumerate(used) if not is_used]
        found: dict[tuple[Hashable, ...], CallResults] = {}
        calls = {number: call_of(self.ops[number]) for number in unused}
        for number, call in calls.items():
            result = found.get(call)
            if result is None:
                result = found[call] = CallResults(cast(NisaOp, self.ops[number]))
            by = self.overwriters.get(number)
            if by is None or number in last:
                result.remaining += 1
                continue
            if call_of(self.ops[by]) == call:
                result.overwritten_by_itself += 1
            else:
                result.overwritten += 1
            result.overwriter = result.overwriter or self.ops[by]
        for number in unused:
            for source in self.sources[number]:
                if source in calls and calls[source] != calls[number]:
                    found[calls[source]].serves_unused = True
        if found:
            self._count(found)
        return list(found.values())

    def _used(self) -> tuple[list[bool], set[int]]:
        """Return, for each execution, whether its result is used; and the last writers of tiles."""
        used = [False] * len(self.ops)
        last: set[int] = set()
        for held in self._accumulated.values():
            for execution in held:
                used[execution.number] = True
        is_alone = self.kernel.core[1] == 1
        for tile in self._accesses.tiles.values():
            writers = tile.writers()
            last.update(writers)
            if not info_of(tile.value).region.on_chip:
                for number in writers:
                    if number != NO_EVENT:
                        used[number] = True
        for number in reversed(range(len(used))):
            op = self.ops[number]
            if not used[number] and (_has_other_effects(op) or not (is_alone or _is_hidden(op))):
                used[number] = True
            if used[number]:
                for source in self.sources[number]:
                    if source != NO_EVENT:
                        used[source] = True
        return used, last

    def _count(self, found: dict[tuple[Hashable, ...], CallResults]) -> None:
        """Count the executions of the calls in `found`, and mark calls in loops on the device."""
        locations = {result.op.location for result in found.values()}
        for op, loop in zip(self.ops, self.loops, strict=True):
            result = found.get(call_of(op)) if op.location in locations else None
            if result is not None:
                result.executions += 1
                result.on_device = result.on_device or loop.on_device


def _covers(lanes: slice, others: slice) -> bool:
    if lanes.stop is None or others.stop is None:
        return lanes.stop is None
    return lanes.start <= others.start and others.stop <= lanes.stop


def _is_hidden(op: Operation) -> bool:
    """True if an operation writes nothing that the other core can read."""
    return not any(
        role is not Role.read and info_of(value).region is MemoryRegion.shared_hbm
        for _, value, role, _ in effects(op)
    )


def _has_other_effects(op: Operation) -> bool:
    """True for an operation that does more than to write tiles."""
    if not is_instruction(op) or isinstance(op, (SendrecvOp, *COLLECTIVES)):
        return True
    if any(True for _ in registers_written(op)):
        return True
    return all(role is Role.read for _, _, role, _ in effects(op))
