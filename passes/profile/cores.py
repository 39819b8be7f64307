"""The state of one core in a simulation: the positions of queues, and ended instructions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from nkijit.passes.lower.dma_engines import DmaEngines
from nkijit.passes.lower.durations import Durations
from nkijit.passes.lower.on_chip import READS_ITSELF
from nkijit.passes.lower.program import (
    EngineInstruction,
    Item,
    Loop,
    Program,
    Queue,
    QueueLoop,
    Wait,
)
from nkijit.passes.lower.traffic import Traffic
from nkijit.passes.profile.array_clock import ArrayClock
from nkijit.passes.profile.iterations import Iterations
from nkijit.passes.profile.ports import Ports
from nkijit.passes.profile.results import Results
from nkijit.passes.profile.timeline import Event, Reason


@dataclass(slots=True)
class _Frame:
    """The position of a queue in one block."""

    items: Sequence[Item]
    inside: QueueLoop | None
    remaining: int
    """The number of iterations after the current one."""
    next: int = 0
    is_first: bool = True
    """True in the first iteration after the loop was entered."""


class Cursor:
    """The position of a queue in its program, and its latest events.

    The head is the instruction that the queue runs next.
    """

    def __init__(self, core: Core, queue: Queue, items: Sequence[Item]):
        self.core = core
        self.queue = queue
        self.is_ring = queue.is_ring
        self.is_tensor = queue is Queue.tensor
        self.results = Results() if queue in READS_ITSELF else None
        self.frames = [_Frame(items, None, 0)]
        self.flat: dict[Loop | None, int] = {None: 0}
        """The number of completed iterations of each loop, over all entries to the loop."""
        self.last: Event | None = None
        self.head: EngineInstruction | None = None
        self.waits: list[tuple[Wait, int]] = []
        """The waits of the head, each with the iteration of the awaited item."""
        self.free = 0.0
        """The time in ns when the queue can begin the head."""
        self.covered = 0.0
        """The time in ns until which the queue is busy."""
        self.last_end = 0.0
        self.ready: tuple[Reason, Event | None, Wait | None] = (Reason.start, None, None)
        """The reason why the head cannot begin earlier: reason, event, wait."""
        self.multiplied: Event | None = None
        self.loaded: Event | None = None

    def advance(self) -> None:
        """Move the head to the next instruction."""
        self.waits.clear()
        self.head = None
        while self.head is None and self.frames:
            frame = self.frames[-1]
            if frame.next == len(frame.items):
                self._end_iteration(frame)
                continue
            item = frame.items[frame.next]
            frame.next += 1
            loop = item.loop
            at = self.flat[loop]
            for wait in item.waits:
                if not wait.carried:
                    self.waits.append((wait, at))
                elif not frame.is_first:
                    self.waits.append((wait, at - 1))
            if isinstance(item, EngineInstruction):
                self.head = item
            else:
                assert isinstance(item, QueueLoop)
                self._enter(item)

    def _enter(self, item: QueueLoop) -> None:
        iterations = self.core.plan.simulated[item.body]
        self.flat.setdefault(item.body, 0)
        if iterations:
            self.frames.append(_Frame(item.items, item, iterations - 1))
        else:
            self.core.has_ended(item, self.last)

    def _end_iteration(self, frame: _Frame) -> None:
        inside = frame.inside
        if inside is None:
            self.frames.pop()
            return
        self.core.end_iteration(inside.body, self.flat[inside.body], self.last_end)
        self.flat[inside.body] += 1
        if not self.is_ring:
            self.free += self.core.branch_ns
        if frame.remaining:
            frame.remaining -= 1
            frame.next = 0
            frame.is_first = False
        else:
            self.frames.pop()
            self.core.has_ended(inside, self.last)


class Core:
    """One core: its queues, its DMA engines and the instructions that have ended."""

    def __init__(self, number: int, program: Program, plan: Iterations, woken: list[Cursor]):
        """Set up a core. `woken` gets the queues whose awaited item has ended."""
        timing = program.target.timing
        self.number = number
        self.plan = plan
        self.durations = Durations(program.target)
        self.traffic = Traffic(self.durations)
        self.ports = Ports(program.target)
        self.clock = ArrayClock(program.target)
        self.branch_ns = timing.sequencer.alu_ns
        self.semaphore_ns = timing.semaphores.latency_ns
        self.dma: DmaEngines[Event] = DmaEngines(program.target)
        self.iteration_ends: dict[Loop, list[float]] = {
            loop: [] for loop in program.loops if plan.is_cut(loop)
        }
        self.ended: dict[Item, list[Event | None]] = {
            wait.before: [] for items in program.blocks.values() for i in items for wait in i.waits
        }
        """For each awaited item, the last event in each iteration."""
        for instruction in program.instructions:
            if instruction.trigger is not None:
                self.ended[instruction.trigger] = []
            if instruction.weights is not None:
                self.ended.setdefault(instruction.weights, [])
        self.blocked: dict[Item, list[Cursor]] = {}
        self._woken = woken
        self.met: dict[Hashable, int] = defaultdict(int)
        """For each key of `meeting_of`, how often the core has reached such an instruction."""
        self.cursors = [Cursor(self, queue, items) for queue, items in program.queues.items()]

    def has_ended(self, item: Item, event: Event | None) -> None:
        """Record the last event of an item that has ended; None if no instruction ran."""
        ended = self.ended.get(item)
        if ended is not None:
            ended.append(event)
            for cursor in self.blocked.pop(item, ()):
                self._woken.append(cursor)

    def end_iteration(self, loop: Loop, iteration: int, time: float) -> None:
        """Record the time in ns when a queue has ended an iteration."""
        ends = self.iteration_ends.get(loop)
        if ends is not None:
            if iteration == len(ends):
                ends.append(time)
            else:
                ends[iteration] = max(ends[iteration], time)
