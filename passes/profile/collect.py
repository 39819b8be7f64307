"""`figures_of`: sum up a profile's figures over the events of a simulated run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xdsl.ir import Operation

from nkijit.dialects.engine.queues import QUEUES, Queue
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import base_of
from nkijit.passes.analysis.memory.map import name_of
from nkijit.passes.diagnostics.places import Position, positions
from nkijit.passes.lower.durations import Durations
from nkijit.passes.lower.program import Program, What
from nkijit.passes.lower.traffic import Traffic
from nkijit.passes.profile.figures import (
    Figures,
    LineUse,
    MemoryUse,
    Moved,
    QueueUse,
    Roofline,
    Stall,
    Waiting,
)
from nkijit.passes.profile.timeline import Event, Reason, Timeline

LATENCY_BOUND = 0.5
"""A kernel is latency-bound if no resource is busy for at least this fraction of the time."""


def figures_of(timeline: Timeline) -> Figures:
    """Return the figures of a simulated run."""
    return _Collector(timeline).figures()


class _Use:
    """The sums for one queue over the run's events."""

    __slots__ = ("busy", "core", "count", "covered", "queue", "waits")

    def __init__(self, core: int, queue: Queue) -> None:
        self.core = core
        self.queue = queue
        self.busy = self.count = 0.0
        self.covered = 0.0
        """The time until which the queue is busy. Overlapping instructions must count once."""
        self.waits: dict[str, float] = {}


class _Line:
    """The sums for a source line in one queue."""

    __slots__ = ("busy", "count", "mnemonics", "path", "place", "queue", "reasons")

    def __init__(self, place: Position | None, queue: Queue) -> None:
        self.place = place
        self.queue = queue
        self.busy = self.path = self.count = 0.0
        self.mnemonics: dict[str, None] = {}
        self.reasons: dict[str, float] = {}

    def add(self, other: _Line) -> None:
        self.busy += other.busy
        self.path += other.path
        self.count += other.count
        self.mnemonics.update(other.mnemonics)
        for reason, time in other.reasons.items():
            self.reasons[reason] = self.reasons.get(reason, 0.0) + time


class _Stalled:
    """The sums over one stall, i.e. over instructions that wait for the same reason."""

    __slots__ = ("count", "first", "time")

    def __init__(self, first: Event) -> None:
        self.first = first
        self.time = self.count = 0.0


class _Collector:
    def __init__(self, timeline: Timeline):
        self._timeline = timeline
        self._total = timeline.total
        self._target: Target = timeline.programs[0].target
        self._places: dict[int, Position | None] = {}
        # Enumeration members and positions hash slowly, so the keys are identities.
        self._uses: dict[tuple[int, int], _Use] = {}
        self._lines: dict[tuple[int, int], _Line] = {}
        self._stalls: dict[tuple[int, ...], _Stalled] = {}
        self._moved: dict[str, list[float]] = {}
        self._flops = 0.0
        self._peak_ns = 0.0
        """The duration in ns of all multiplications at peak rate."""
        self._dma_busy = 0.0
        self._hbm_bytes = 0.0
        self._traffics: list[Traffic] = []
        self._all_durations: list[Durations] = []
        for program in timeline.programs:
            durations = Durations(program.target)
            self._all_durations.append(durations)
            self._traffics.append(Traffic(durations))

    def figures(self) -> Figures:
        timeline, target = self._timeline, self._target
        for event in timeline.events:
            self._add(event)
        self._add_path()
        cores = len(timeline.programs)
        queues = self._queues()
        tensor = sum(use.busy for use in queues if use.queue == Queue.tensor.name)
        shares = self._shares(queues)
        busiest, share = shares[0] if shares else ("latency", 0.0)
        available = self._total * cores
        roofline = self._roofline(cores)
        moved = self._all_moved()
        rate = target.timing.dma.engines * target.timing.dma.engine_bytes_per_ns
        kernel = timeline.programs[0].kernel
        return Figures(
            kernel.launch_name,
            target.platform,
            self._total,
            target.launch_ns(cores),
            round(sum(use.count for use in self._uses.values())),
            busiest if share >= LATENCY_BOUND else "latency",
            shares,
            _ratio(self._peak_ns, available),
            _ratio(self._peak_ns, tensor),
            roofline,
            queues,
            moved,
            _ratio(sum(m.bytes for m in moved), available * rate),
            tuple(_memory(core, program) for core, program in enumerate(timeline.programs)),
            self._all_lines(),
            self._all_stalls(),
            tuple(timeline.loops),
            timeline.programs[0].passed_over,
        )

    # ---------------------------------------------------------------- events

    def _add(self, event: Event) -> None:
        instruction, core = event.instruction, event.core
        queue, op = instruction.queue, instruction.op
        weight = self._timeline.weights[core][instruction.loop]
        use = self._uses.get((core, id(queue)))
        if use is None:
            use = self._uses[core, id(queue)] = _Use(core, queue)
        use.count += weight
        busy = (event.free - event.begin) * weight
        if event.free > use.covered:
            use.busy += (event.free - max(event.begin, use.covered)) * weight
            use.covered = event.free
        line = self._line(op, queue)
        line.count += weight
        line.busy += busy
        line.mnemonics[instruction.mnemonic] = None
        if event.stalled > 0.0:
            self._stall(event, use, event.stalled * weight, weight)
        if instruction.what is What.transfer:
            self._transfer(event, weight)
        elif instruction.weights is not None:
            flops, peak_ns = self._all_durations[core].work(instruction)
            self._flops += flops * weight
            self._peak_ns += peak_ns * weight

    def _stall(self, event: Event, use: _Use, time: float, weight: float) -> None:
        cause, wait = event.cause, event.wait
        word = _waits_for(event)
        use.waits[word] = use.waits.get(word, 0.0) + time
        instruction = event.instruction
        if instruction.trigger is not None:
            return
        key = (
            id(instruction.queue),
            id(instruction.op.location),
            id(event.reason),
            0 if cause is None else id(cause.instruction.queue),
            0 if cause is None else id(cause.instruction.op.location),
            0 if wait is None else id(wait.kind),
        )
        found = self._stalls.get(key)
        if found is None:
            found = self._stalls[key] = _Stalled(event)
        found.time += time
        found.count += weight

    def _transfer(self, event: Event, weight: float) -> None:
        transfer = self._all_durations[event.core].transfer(event.instruction)
        direction, size, hbm_bytes = self._traffics[event.core].of(event.instruction)
        found = self._moved.setdefault(direction, [0.0, 0.0, 0.0])
        found[0] += weight
        found[1] += size * weight
        found[2] += transfer.descriptors * weight
        self._dma_busy += weight * transfer.engines_ns
        self._hbm_bytes += hbm_bytes * weight

    def _place(self, op: Operation) -> Position | None:
        key = id(op.location)
        if key not in self._places:
            self._places[key] = next(iter(positions(op.location)), None)
        return self._places[key]

    def _line(self, op: Operation, queue: Queue) -> _Line:
        key = (id(op.location), id(queue))
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = _Line(self._place(op), queue)
        return line

    def _add_path(self) -> None:
        for step in self._timeline.critical_path():
            time = step.time * self._timeline.weight(step.event)
            line = self._line(step.event.instruction.op, step.event.instruction.queue)
            line.path += time
            reason = step.event.reason.value
            line.reasons[reason] = line.reasons.get(reason, 0.0) + time

    # ---------------------------------------------------------------- sums

    def _queues(self) -> tuple[QueueUse, ...]:
        found: list[QueueUse] = []
        for use in sorted(self._uses.values(), key=lambda use: (use.core, use.queue.value)):
            waits = sorted(use.waits.items(), key=lambda item: -item[1])
            # Iterations that were not simulated make both inexact.
            busy = min(use.busy, self._total)
            waiting = min(sum(use.waits.values()), self._total - busy)
            found.append(
                QueueUse(
                    use.core,
                    use.queue.name,
                    round(use.count),
                    busy,
                    waiting,
                    self._total - busy - waiting,
                    tuple(Waiting(reason, time) for reason, time in waits),
                )
            )
        return tuple(found)

    def _shares(self, queues: Sequence[QueueUse]) -> tuple[tuple[str, float], ...]:
        """Return the utilisation of each resource, as (name, fraction).

        For engines, this is the highest over the cores; for DMA engines and HBM, the mean.
        """
        cores = len(self._timeline.programs)
        engines = {queue.name for queue in QUEUES if not queue.is_ring and queue is not Queue.sync}
        found: dict[str, float] = {}
        for use in queues:
            if use.queue in engines:
                found[use.queue] = max(found.get(use.queue, 0.0), _ratio(use.busy, self._total))
        dma = self._target.timing.dma
        if self._moved:
            found["dma"] = _ratio(self._dma_busy, self._total * dma.engines * cores)
            found["hbm"] = _ratio(self._hbm_bytes, self._total * dma.hbm_bytes_per_ns * cores)
        return tuple(sorted(found.items(), key=lambda item: -item[1]))

    def _roofline(self, cores: int) -> Roofline:
        hbm = self._target.timing.dma.hbm_bytes_per_ns * cores * 1e9
        peak = cores * _ratio(self._flops, self._peak_ns) * 1e9
        intensity = _ratio(self._flops, self._hbm_bytes)
        attainable = min(peak, intensity * hbm) if self._hbm_bytes else peak
        bound = "none" if not self._flops else "memory" if attainable < peak else "compute"
        achieved = _ratio(self._flops, self._total) * 1e9
        return Roofline(
            self._flops, round(self._hbm_bytes), intensity, peak, attainable, achieved, bound
        )

    def _all_moved(self) -> tuple[Moved, ...]:
        return tuple(
            Moved(
                direction, round(count), round(size), round(descriptors), _ratio(size, self._total)
            )
            for direction, (count, size, descriptors) in sorted(
                self._moved.items(), key=lambda item: -item[1][1]
            )
        )

    def _all_lines(self) -> tuple[LineUse, ...]:
        whole = sum(line.path for line in self._lines.values())
        merged: dict[tuple[Position | None, Queue], _Line] = {}
        for line in self._lines.values():
            place, queue = line.place, line.queue
            merged.setdefault((place, queue), _Line(place, queue)).add(line)
        found = [
            LineUse(
                line.place,
                line.queue.name,
                tuple(line.mnemonics),
                round(line.count),
                line.busy,
                _ratio(line.path, whole) * self._total,
                _ratio(line.path, whole),
                max(line.reasons, key=line.reasons.__getitem__, default=""),
            )
            for line in merged.values()
        ]
        return tuple(sorted(found, key=lambda line: (-line.path, -line.busy)))

    def _all_stalls(self) -> tuple[Stall, ...]:
        merged: dict[Stall, list[float]] = {}
        for stalled in self._stalls.values():
            sums = merged.setdefault(self._described(stalled.first), [0.0, 0.0])
            sums[0] += stalled.time
            sums[1] += stalled.count
        found = [replace(s, time=time, count=round(n)) for s, (time, n) in merged.items()]
        return tuple(sorted(found, key=lambda stall: -stall.time))

    def _described(self, event: Event) -> Stall:
        """Return the description of a stall, without its sums."""
        cause, wait = event.cause, event.wait
        elsewhere = event.reason in (Reason.semaphore, Reason.meeting, Reason.port)
        return Stall(
            event.instruction.queue.name,
            self._place(event.instruction.op),
            event.reason.value,
            cause.instruction.queue.name if cause is not None and elsewhere else None,
            None if cause is None else self._place(cause.instruction.op),
            None if wait is None or wait.value is None else _name(wait.value),
            None if wait is None or wait.kind is None else wait.kind.value,
            0.0,
            0,
        )


def _waits_for(event: Event) -> str:
    """Return the name of the queue that an event waits for; without a queue, the reason."""
    if event.reason is Reason.semaphore and event.cause is not None:
        return event.cause.instruction.queue.name
    return event.reason.value


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _name(value: Any) -> str:
    base = base_of(value)
    owner = base.owner
    return name_of(owner) if isinstance(owner, AllocOp) else base.name_hint or "unnamed"


def _memory(core: int, program: Program) -> MemoryUse:
    place, target = program.placement, program.target
    return MemoryUse(
        core,
        place.sbuf_live,
        target.sbuf_usable_bytes,
        place.psum_live,
        target.psum_partition_bytes,
    )
