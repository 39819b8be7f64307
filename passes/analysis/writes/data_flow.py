"""The flow of data between the executions of a kernel's operations.

A forward walk finds, for each execution, the executions whose results are its inputs, and the
execution that overwrites its result.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.effects import effects
from nkijit.dialects.hardware.words import engine, reduce_cmd
from nkijit.dialects.nki.allocation import DECLARATIONS, AllocOp
from nkijit.dialects.nki.kernel import DevicePrintOp, KernelOp, ReturnOp, shared_tensors
from nkijit.dialects.nki.views import base_of, leaves_its_tensor
from nkijit.dialects.walks import directly_in, found_once
from nkijit.passes.analysis.flow.accumulators import accumulator_command, accumulator_lanes
from nkijit.passes.analysis.flow.dependences import NO_EVENT, Accesses, TrackedTile
from nkijit.passes.analysis.flow.matmul_writes import where_matmuls_add
from nkijit.passes.analysis.flow.ranges import Ranges


class Loop(NamedTuple):
    """The loops on the device around an execution."""

    on_device: bool = False
    """Whether the execution is in a loop on the device."""
    optional: Operation | None = None
    """The innermost of these loops that may run zero times; None if every loop runs."""


_NO_LOOP = Loop()


class _Accumulated(NamedTuple):
    """An execution whose reduction the accumulators of an engine hold."""

    number: int
    lanes: slice


class DataFlow:
    """The executions of the operations of one core's program, and the data that they exchange.

    An operation has one execution; in a loop on the device it has two, in different iterations.
    """

    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        self.ops: list[Operation] = []
        """The operation of each execution."""
        self.sources: list[list[int]] = []
        """For each execution, the executions whose results it reads; `NO_EVENT` for bytes that no
        execution has written."""
        self.loops: list[Loop] = []
        """The loops around each execution."""
        self.overwriters: dict[int, int] = {}
        """For each execution, by number: the last execution that overwrote part of its result."""
        self.accesses = Accesses()
        """The last accesses to every tensor, at the end of the program."""
        self._unsettled: dict[int, SSAValue] = {}
        self._accumulated: dict[engine, list[_Accumulated]] = {}
        self._ranges: Ranges | None = None
        found = where_matmuls_add(kernel)
        self._overwriting = {id(op) for op, adds in found if adds is False}
        """The `id` of each matmul that overwrites its destination without adding."""
        self._block(kernel.body.block)
        last = kernel.body.block.last_op
        for value in last.values if isinstance(last, ReturnOp) else ():
            tile = self._tile(value)
            if NO_EVENT in tile.writers() or not tile.exact:
                self._unsettle(value)
        for value in shared_tensors(kernel) if kernel.core[1] > 1 else ():
            self._unsettle(value)

    @property
    def accumulated(self) -> list[int]:
        """The executions whose reductions the accumulators hold at the end of the program."""
        return [each.number for held in self._accumulated.values() for each in held]

    @property
    def unsettled(self) -> list[SSAValue]:
        """The tensors of which an operation may read unwritten bytes.

        All reads of any other allocation are reads of bytes that the program has certainly written.
        """
        return list(self._unsettled.values())

    def _unsettle(self, value: SSAValue) -> None:
        """Add a tensor to `unsettled`, except arguments and constants that views stay within."""
        base = base_of(value)
        if type(base.owner) is AllocOp or leaves_its_tensor(value):
            self._unsettled[id(base)] = base

    def _tile(self, value: SSAValue) -> TrackedTile:
        return self.accesses.tiles.get(id(value)) or self.accesses.track(value)

    def _block(self, block: Block, again: bool = False, loop: Loop = _NO_LOOP) -> None:
        """Walk a block; `again`: this is the second walk of the loop around it."""
        for op in directly_in(block):
            if is_instruction(op) or type(op) is DevicePrintOp:
                self._execute(op, loop)
            elif op.regions and type(op) not in DECLARATIONS:
                inner = loop
                repeats = False
                if isinstance(op, (ForOp, WhileOp)):
                    least, most = self._trip_counts(op)
                    inner = Loop(True, loop.optional if least else op)
                    # One second walk covers all loops around: one per loop would double the work
                    # at every level.
                    repeats = not again and most != 1
                for second in (False, True) if repeats else (again,):
                    for region in op.regions:
                        self._block(region.block, second, inner)

    def _trip_counts(self, op: ForOp | WhileOp) -> tuple[int, int | None]:
        if isinstance(op, WhileOp):
            return 0, None
        self._ranges = self._ranges or Ranges(self.kernel)
        return self._ranges.trip_counts(op)

    def _execute(self, op: Operation, loop: Loop) -> None:
        number = len(self.ops)
        self.ops.append(op)
        self.loops.append(loop)
        sources: list[int] = []
        written: list[TrackedTile] = []
        tiles = self.accesses.tiles
        for _, value, role, partial in effects(op):
            tile = tiles.get(id(value)) or self.accesses.track(value)
            if role is Role.read:
                writers = tile.writers()
                sources += writers
                if NO_EVENT in writers or not tile.exact:
                    self._unsettle(value)
                continue
            written.append(tile)
            if partial or not tile.exact or loop.optional is not None:
                self._unsettle(value)
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


def data_flow(kernel: KernelOp) -> DataFlow:
    """Return the flow of data in the program of one core."""
    return found_once(kernel, DataFlow)


def _covers(lanes: slice, others: slice) -> bool:
    if lanes.stop is None or others.stop is None:
        return lanes.stop is None
    return lanes.start <= others.start and others.stop <= lanes.stop
