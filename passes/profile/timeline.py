"""What a simulation gives: when every instruction ran, and what it had waited for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from nkijit.passes.diagnostics.fields import ShownFields
from nkijit.passes.lower.program import EngineInstruction, Loop, Program, Wait
from nkijit.passes.profile.iterations import LoopCount


class Reason(Enum):
    """What an instruction waited for last before it began."""

    start = "start"
    """For nothing: it is the first of its queue."""
    queue = "queue"
    """For the instruction before it in its queue."""
    result = "result"
    """For a result of its own queue."""
    semaphore = "semaphore"
    """For another queue."""
    dispatch = "dispatch"
    """A transfer: for its descriptors, after its trigger."""
    dma = "dma"
    """A transfer: for DMA engines that were at another one."""
    port = "port"
    """For a memory port that another engine was using."""
    meeting = "meeting"
    """For the other core."""
    weights = "weights"
    """A multiplication: for its stationary tile."""


@dataclass(slots=True, eq=False, repr=False)
class Event(ShownFields):
    """An instruction that has run. Times are in ns from the kernel's first instruction on."""

    instruction: EngineInstruction
    core: int
    begin: float
    """Of a transfer, when the last of its DMA engines took it up."""
    free: float
    """When its queue could begin with the next one; of a transfer, when the last byte is moved."""
    end: float
    """When its results are seen by its own queue; of a transfer, by all queues."""
    reason: Reason
    cause: Event | None
    """What it waited for last; that has begun no later."""
    wait: Wait | None
    """The semaphore, when that is the reason."""
    stalled: float
    """How long its queue had had nothing to do when it began."""

    def __repr__(self) -> str:
        return f"<event: {self.begin:,.0f} to {self.end:,.0f} ns, {self.instruction!r}>"


class PathStep(NamedTuple):
    """A piece of the critical path."""

    event: Event
    begin: float
    end: float
    """When the next one on the path begins."""

    @property
    def time(self) -> float:
        """How long the piece is."""
        return self.end - self.begin

    def __repr__(self) -> str:
        return f"<path step: {self.begin:,.0f} to {self.end:,.0f} ns, {self.event.instruction!r}>"


@dataclass(frozen=True, slots=True, repr=False)
class Timeline:
    """A simulated run of a kernel on all of its cores."""

    programs: Sequence[Program]
    events: Sequence[Event]
    """In the order in which they could begin, over all cores."""
    simulated: float
    """When the last instruction that was simulated had ended."""
    left_out: float
    """How long the iterations of loops take that were not simulated."""
    loops: Sequence[LoopCount]
    """The loops about which something was assumed."""
    weights: Sequence[dict[Loop | None, float]] = field(repr=False)
    """For each core: for how many real instructions one in a loop stands."""
    assumed: int = 1
    """How often loops are taken to run of which that is not known."""
    limit: int | None = None
    """How many instructions were simulated at most; None means the default."""

    def __repr__(self) -> str:
        return f"<timeline: {len(self.events):,} instructions, {self.total:,.0f} ns>"

    @property
    def total(self) -> float:
        """How long the kernel takes, without what starting and ending any kernel takes."""
        return self.simulated + self.left_out

    def weight(self, event: Event) -> float:
        """For how many real instructions an event stands."""
        return self.weights[event.core][event.instruction.loop]

    def critical_path(self) -> list[PathStep]:
        """The chain of instructions that explains when the last one ended, from the first on.

        Its pieces follow each other without gaps, so that they sum up to `simulated`.
        """
        last = max(self.events, key=lambda event: event.end, default=None)
        return list(_back(last))[::-1] if last is not None else []


def _back(last: Event) -> Iterator[PathStep]:
    event: Event | None = last
    end = last.end
    while event is not None:
        # What has begun at the very same time explains nothing, but leads on.
        if event.begin < end or event is last:
            yield PathStep(event, event.begin, end)
            end = event.begin
        event = event.cause
