"""The result of a simulation: each instruction's times, and the event that it waited for last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from nkijit.dialects.spelling import counted
from nkijit.passes.diagnostics.fields import ShownFields
from nkijit.passes.lower.program import EngineInstruction, Loop, Program, Wait
from nkijit.passes.profile.iterations import LoopCount


class Reason(Enum):
    """The condition that an instruction waited for last."""

    start = "start"
    """No condition: the instruction is the first of its queue."""
    queue = "queue"
    """The start of the previous instruction of the queue."""
    result = "result"
    """A result of an earlier instruction of the same queue."""
    semaphore = "semaphore"
    """A semaphore of another queue."""
    dispatch = "dispatch"
    """The dispatch of a transfer: the delay between the end of the trigger and the first byte."""
    dma = "dma"
    """The end of another transfer on the same DMA engines."""
    port = "port"
    """The end of another engine's use of a shared memory port."""
    meeting = "meeting"
    """The arrival of another core at a point where cores wait for each other."""
    weights = "weights"
    """The load of a multiplication's stationary tile."""


@dataclass(slots=True, eq=False, repr=False)
class Event(ShownFields):
    """A simulated instruction. Times are in ns since the kernel's first instruction."""

    instruction: EngineInstruction
    core: int
    begin: float
    """The start time; for a transfer, the time when the last of its DMA engines starts."""
    free: float
    """The time when the queue can begin its next instruction; for a transfer, after its last byte.
    """
    end: float
    """The time when the queue sees the results; for a transfer, when all queues see the results."""
    reason: Reason
    cause: Event | None
    """The event that the instruction waited for last.

    It begins no later than the instruction.
    """
    wait: Wait | None
    """The semaphore wait, if a semaphore is the reason."""
    stalled: float
    """The time that the queue was idle before the instruction began."""

    def __repr__(self) -> str:
        return f"<event: {self.begin:,.0f} to {self.end:,.0f} ns, {self.instruction!r}>"


class PathStep(NamedTuple):
    """A segment of the critical path: from the start of an event to the start of the next event."""

    event: Event
    begin: float
    end: float
    """The time at which the next event on the path begins."""

    @property
    def time(self) -> float:
        """The duration of the segment."""
        return self.end - self.begin

    def __repr__(self) -> str:
        return f"<path step: {self.begin:,.0f} to {self.end:,.0f} ns, {self.event.instruction!r}>"


@dataclass(frozen=True, slots=True, repr=False)
class Timeline:
    """A simulated run of a kernel on all of its cores."""

    programs: Sequence[Program]
    events: Sequence[Event]
    """The events of all cores, sorted by the time when they could begin."""
    simulated: float
    """The end of the last simulated instruction, in ns."""
    left_out: float
    """The time of the iterations that were not simulated, in ns."""
    loops: Sequence[LoopCount]
    """The loops with an assumed trip count, and the loops that were only partly simulated."""
    weights: Sequence[dict[Loop | None, float]] = field(repr=False)
    """For each core and loop, the number of executed instructions per simulated instruction."""
    assumed: int = 1
    """The assumed trip count of loops whose trip count is unknown."""
    limit: int | None = None
    """The limit of simulated instructions; None for the default."""

    def __repr__(self) -> str:
        return f"<timeline: {counted(len(self.events), 'instruction')}, {self.total:,.0f} ns>"

    @property
    def total(self) -> float:
        """The time of the kernel in ns, without the time to start and end any kernel."""
        return self.simulated + self.left_out

    def weight(self, event: Event) -> float:
        """Return the number of executed instructions that an event represents."""
        return self.weights[event.core][event.instruction.loop]

    def critical_path(self) -> list[PathStep]:
        """Return the chain of causes that leads from the first event to the event that ends last.

        The segments have no gaps: they add up to `simulated`.
        """
        last = max(self.events, key=lambda event: event.end, default=None)
        return list(_back(last))[::-1] if last is not None else []


def _back(last: Event) -> Iterator[PathStep]:
    event: Event | None = last
    end = last.end
    while event is not None:
        # An event that begins at the same time has no segment, but its cause continues the path.
        if event.begin < end or event is last:
            yield PathStep(event, event.begin, end)
            end = event.begin
        event = event.cause
