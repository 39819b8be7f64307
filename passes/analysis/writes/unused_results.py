"""Executions of instructions whose results nothing uses.

A result is used if a print, a caller, a register of a sequencer or another used execution needs it,
or if it remains in the accumulators of an engine. A backward pass over the flow of data
(`data_flow.py`) marks the used results.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Operation

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.effects import effects, registers_written
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa.cores import SendrecvOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.flow.dependences import NO_EVENT
from nkijit.passes.analysis.writes.data_flow import DataFlow, data_flow


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
    flow = data_flow(kernel)
    used, last = _used(flow)
    unused = [n for n, is_used in enumerate(used) if not is_used]
    found: dict[tuple[Hashable, ...], CallResults] = {}
    calls = {number: call_of(flow.ops[number]) for number in unused}
    for number, call in calls.items():
        result = found.get(call)
        if result is None:
            result = found[call] = CallResults(cast(NisaOp, flow.ops[number]))
        by = flow.overwriters.get(number)
        if by is None or number in last:
            result.remaining += 1
            continue
        if call_of(flow.ops[by]) == call:
            result.overwritten_by_itself += 1
        else:
            result.overwritten += 1
        result.overwriter = result.overwriter or flow.ops[by]
    for number in unused:
        for source in flow.sources[number]:
            if source in calls and calls[source] != calls[number]:
                found[calls[source]].serves_unused = True
    if found:
        _count(flow, found)
    return list(found.values())


def _used(flow: DataFlow) -> tuple[list[bool], set[int]]:
    """Return, for each execution, whether its result is used; and the last writers of tiles."""
    used = [False] * len(flow.ops)
    last: set[int] = set()
    for number in flow.accumulated:
        used[number] = True
    is_alone = flow.kernel.core[1] == 1
    for tile in flow.accesses.tiles.values():
        writers = tile.writers()
        last.update(writers)
        if not info_of(tile.value).region.on_chip:
            for number in writers:
                if number != NO_EVENT:
                    used[number] = True
    for number in reversed(range(len(used))):
        op = flow.ops[number]
        if not used[number] and (_has_other_effects(op) or not (is_alone or _is_hidden(op))):
            used[number] = True
        if used[number]:
            for source in flow.sources[number]:
                if source != NO_EVENT:
                    used[source] = True
    return used, last


def _count(flow: DataFlow, found: dict[tuple[Hashable, ...], CallResults]) -> None:
    """Count the executions of the calls in `found`, and mark calls in loops on the device."""
    locations = {result.op.location for result in found.values()}
    for op, loop in zip(flow.ops, flow.loops, strict=True):
        result = found.get(call_of(op)) if op.location in locations else None
        if result is not None:
            result.executions += 1
            result.on_device = result.on_device or loop.on_device


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
