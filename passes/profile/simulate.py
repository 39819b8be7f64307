"""`simulate`: predicts when each instruction of a kernel runs, by the model of `lower/program.py`.

This is a discrete-event simulation of all cores together. An instruction begins when all of these
hold:

- Its queue is free: the previous instruction has begun, and its issue time is over.
- All its waits are over: a semaphore's latency has passed since the end of each awaited
  instruction.
- All results of its own queue that the instruction reads are available (`results.py`).
- The stationary tile of a multiplication is in the array. The array holds one tile more than the
  one in use, so a load can begin together with the previous multiplication.
- A multiplication takes longer while the array is limited (`array_clock.py`).
- Its memory ports are free, if engines share them (`ports.py`).
- For a meeting of cores: all cores have arrived. Other ranks are assumed to arrive at the same
  time.

The instructions of a queue end in order. A trigger occupies its queue. Its transfer then waits for
its descriptors. The core's DMA engines serve transfers in order of arrival over all rings. Each
engine of a transfer is occupied for its share (`Transfer.engine_ns`, `other_ns`). The bytes arrive
after `Transfer.payload_ns` (the time of a transfer without contention), and not before the last
engine has done its share. Each core has a fixed share of the HBM bandwidth.

Two assumptions have no public source. A transfer that needs only some of the engines takes the
engines that are free first. The branch at the end of a loop's body costs as much as one sequencer
instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import count

from nkijit.dialects.declare.rules.pe_array import LOAD_STATIONARY
from nkijit.passes.lower.program import EngineInstruction, Program, Wait, What
from nkijit.passes.profile.cores import Core, Cursor
from nkijit.passes.profile.iterations import MOST, Iterations, SimulationError, simulation_limit
from nkijit.passes.profile.meetings import MEETING_OPS, meeting_of
from nkijit.passes.profile.timeline import Event, Reason, Timeline

PROGRESS_EVERY = 8192
"""The number of simulated instructions between two progress reports."""

Progress = Callable[[float], None]


def simulate(
    programs: Sequence[Program],
    *,
    iterations: int = 1,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Timeline:
    """Simulate the cores of a kernel together.

    Args:
        programs: the program of each core, from `lower`.
        iterations: the assumed trip count of loops with an unknown count.
        limit: the maximum number of simulated instructions. Loops are cut short to comply. None:
            `NKIJIT_SIMULATION_LIMIT` in the environment, or a million.
        progress: called regularly with the simulated fraction of the instructions, from 0 to 1.

    Raises:
        SimulationError: there is a deadlock between queues or cores, or nested loops exceed `limit`
            even when they are cut short.
        ValueError: `iterations` is negative or does not fit into a register.
    """
    if not 0 <= iterations <= MOST:
        shown = str(iterations) if abs(iterations) < 10**20 else "so many"
        raise ValueError(f"a loop cannot run for {shown} iterations, only for 0 to {MOST}")
    share = (simulation_limit() if limit is None else limit) // max(1, len(programs))
    plans = [Iterations(program, iterations, share) for program in programs]
    for plan in plans:
        plan.check()
    run = _Run(programs, plans, progress)
    run.run()
    loops = [loop for core, plan in enumerate(plans) for loop in plan.assumptions(core)]
    left_out = max(
        (p.left_out(core.iteration_ends) for p, core in zip(plans, run.cores, strict=True)),
        default=0.0,
    )
    return Timeline(
        programs,
        run.events,
        max((event.end for event in run.events), default=0.0),
        left_out,
        loops,
        [plan.weights() for plan in plans],
        iterations,
        limit,
    )


class _Run:
    def __init__(
        self, programs: Sequence[Program], plans: Sequence[Iterations], progress: Progress | None
    ):
        self.events: list[Event] = []
        self.woken: list[Cursor] = []
        """The queues to consider again, because an item that they waited for has ended."""
        self.cores = [
            Core(number, program, plan, self.woken)
            for number, (program, plan) in enumerate(zip(programs, plans, strict=True))
        ]
        self._progress = progress
        self._expected = sum(plan.instructions for plan in plans)
        self._heap: list[tuple[float, int, Cursor]] = []
        self._order = count()
        self._meetings: dict[Hashable, list[Cursor]] = {}
        """For each key of `meeting_of`: the queues that wait there for queues of other cores."""

    def run(self) -> None:
        for core in self.cores:
            for cursor in core.cursors:
                cursor.advance()
                self.woken.append(cursor)
        heap, events, woken = self._heap, self.events, self.woken
        reported = PROGRESS_EVERY
        while True:
            while woken:
                self._consider(woken.pop())
            if not heap:
                break
            time, _, cursor = heappop(heap)
            self._arrive(cursor, time)
            if self._progress is not None and len(events) >= reported:
                reported += PROGRESS_EVERY
                self._progress(len(events) / self._expected)
        if any(cursor.head is not None for core in self.cores for cursor in core.cursors):
            raise SimulationError(self._stuck())

    def _consider(self, cursor: Cursor) -> None:
        """Schedule the head of a queue if its start time is known."""
        head, core = cursor.head, cursor.core
        if head is None:
            return
        time = cursor.free
        ready = (Reason.queue if cursor.last else Reason.start, cursor.last, None)
        ended, latency = core.ended, core.semaphore_ns
        for wait, iteration in cursor.waits:
            before = ended[wait.before]
            if iteration >= len(before):
                core.blocked.setdefault(wait.before, []).append(cursor)
                return
            event = before[iteration]
            if event is None:
                continue
            # A transfer's completion notification is its signal, so there is no further latency.
            over = event.end
            if event.instruction.trigger is None:
                over += latency
            if over > time:
                time, ready = over, (Reason.semaphore, event, wait)
        if head.what is What.transfer:
            started = self._started(cursor, head)
            if started is None:
                return
            over = started.free + core.durations.transfer(head).dispatch_ns
            if over > time:
                time, ready = over, (Reason.dispatch, started, None)
        elif cursor.is_tensor:
            time, ready = self._array(cursor, head, time, ready)
        elif cursor.results is not None:
            event = cursor.results.awaited(head, time)
            if event is not None:
                time, ready = event.end, (Reason.result, event, None)
        cursor.ready = ready
        heappush(self._heap, (time, next(self._order), cursor))

    def _started(self, cursor: Cursor, head: EngineInstruction) -> Event | None:
        """Return the trigger event of a transfer; None if the trigger has not begun."""
        trigger = head.trigger
        assert trigger is not None
        events = cursor.core.ended[trigger]
        iteration = cursor.flat[head.loop]
        if iteration >= len(events):
            cursor.core.blocked.setdefault(trigger, []).append(cursor)
            return None
        return events[iteration]

    def _array(
        self,
        cursor: Cursor,
        head: EngineInstruction,
        time: float,
        ready: tuple[Reason, Event | None, Wait | None],
    ) -> tuple[float, tuple[Reason, Event | None, Wait | None]]:
        """Delay a Tensor Engine instruction until the array is free and has its stationary tile.

        The array loads the next stationary tile while it multiplies.
        """
        event, reason = cursor.multiplied, Reason.queue
        if head.mnemonic == LOAD_STATIONARY:
            event = cursor.loaded
        if event is not None and event.free > time:
            time, ready = event.free, (reason, event, None)
        if head.weights is not None:
            loads = cursor.core.ended[head.weights]
            event = loads[-1] if loads else None
            if event is not None and event.free > time:
                time, ready = event.free, (Reason.weights, event, None)
        return time, ready

    def _arrive(self, cursor: Cursor, time: float) -> None:
        """Begin the head of a queue, unless it has to wait for a port or for other cores."""
        head = cursor.head
        assert head is not None
        if type(head.op) in MEETING_OPS and head.what is not What.trigger:
            self._meet(cursor, head, time)
            return
        held = cursor.core.ports.held(head, time)
        if held is not None:
            cursor.ready = (Reason.port, held, None)
            heappush(self._heap, (held.free, next(self._order), cursor))
            return
        self._begin(cursor, head, time)

    def _meet(self, cursor: Cursor, head: EngineInstruction, time: float) -> None:
        name = meeting_of(head)
        key = (name, cursor.core.met[name])
        cursor.core.met[name] += 1
        here = self._meetings.setdefault(key, [])
        here.append(cursor)
        if len(here) < len(self.cores):
            return
        del self._meetings[key]
        # The last one to arrive is the cause for the others.
        last = self._begin(cursor, head, time)
        for other in here[:-1]:
            assert other.head is not None
            other.ready = (Reason.meeting, last, None)
            self._begin(other, other.head, time)

    def _begin(self, cursor: Cursor, head: EngineInstruction, time: float) -> Event:
        core = cursor.core
        event = Event(head, core.number, time, time, time, *cursor.ready, 0.0)
        if head.what is What.transfer:
            hbm_bytes = core.traffic.of(head).hbm_bytes
            transfer = core.durations.transfer(head)
            served = core.dma.serve(time, transfer, hbm_bytes, event)
            event.begin, event.free = served.begin, served.end
            event.end = served.end + transfer.notify_ns
            if served.cause is not None:
                event.reason, event.cause, event.wait = Reason.dma, served.cause, None
            cursor.free = event.begin
        else:
            issue, latency = core.durations.of(head)
            event.free, event.end = time + issue, time + latency
            if head.mnemonic == LOAD_STATIONARY:
                cursor.loaded = event
                cursor.free = time
            elif cursor.is_tensor and head.what is What.compute:
                slower = core.clock.factor(time)
                event.free = time + issue * slower
                # The latency is that of probes that began at half speed.
                event.end = max(time + latency, event.free)
                core.clock.note(head, time, event.free, slower)
                cursor.multiplied = event
                cursor.free = time
            else:
                cursor.free = event.free
                if cursor.results is not None:
                    cursor.results.note(head, event)
                core.ports.note(head, event)
        # Written out, as `max` of two takes as long as all other statements here.
        if event.end < cursor.last_end:
            event.end = cursor.last_end
        cursor.last_end = event.end
        if event.begin > cursor.covered:
            event.stalled = event.begin - cursor.covered
        if event.free > cursor.covered:
            cursor.covered = event.free
        cursor.last = event
        self.events.append(event)
        core.has_ended(head, event)
        cursor.advance()
        self.woken.append(cursor)
        return event

    def _stuck(self) -> str:
        lines = ["the queues wait for each other for ever:"]
        for core in self.cores:
            lines += [f"  {text}" for text in _waiting(core)]
        return "\n".join(lines)


def _waiting(core: Core) -> Iterator[str]:
    for cursor in core.cursors:
        head = cursor.head
        if head is None:
            continue
        text = f"core {core.number}, {cursor.queue.name}: {head.mnemonic} of {head.op.name}"
        missing = [
            wait.queue.name for wait, at in cursor.waits if at >= len(core.ended[wait.before])
        ]
        if missing:
            text += f" waits for {' and '.join(missing)}"
        elif type(head.op) in MEETING_OPS:
            text += " waits for the other core"
        yield text
