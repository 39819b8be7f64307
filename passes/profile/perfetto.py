"""A timeline in Chrome's trace event format (JSON), which ui.perfetto.dev opens.

A core is a process and a queue is a thread. Queues with overlapping instructions, such as DMA
rings, have several threads. Instructions are complete events ("X"). Semaphores on which an
instruction waited are flows ("s" and "f"). Bytes in use and DMA bandwidth are counters ("C"). Times
are in µs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.collection import without_collection
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.diagnostics.places import positions
from nkijit.passes.lower.durations import Durations
from nkijit.passes.lower.program import Program, Queue, What
from nkijit.passes.profile.timeline import Event, Reason, Timeline

LANES = 100
"""The largest number of threads per queue; instructions cannot overlap more than that.

The number of DMA engines and the tiles in the array limit the overlap.
"""
BANDWIDTH_STEPS = 1000
"""The largest number of points in the curve of DMA bandwidth."""


@without_collection()
def trace_of(timeline: Timeline) -> str:
    """Return the whole trace as JSON text."""
    lanes = _lanes(timeline)
    events: list[dict[str, Any]] = []
    for core, program in enumerate(timeline.programs):
        own = [event for event in timeline.events if event.core == core]
        events += _names(core, program, {lanes[event] for event in own})
        events += _memory(core, program, own)
        events += _bandwidth(core, program, own, timeline.simulated)
    events += _instructions(timeline, lanes)
    document = {"traceEvents": events, "displayTimeUnit": "ns"}
    return json.dumps(document, separators=(",", ":")) + "\n"


def _lanes(timeline: Timeline) -> dict[Event, int]:
    """Assign a thread to each event: the first thread of the event's queue that is free."""
    free: dict[tuple[int, Queue], list[float]] = {}
    found: dict[Event, int] = {}
    for event in timeline.events:
        queue = event.instruction.queue
        lanes = free.setdefault((event.core, queue), [])
        lane = next((n for n, time in enumerate(lanes) if time <= event.begin), len(lanes))
        if lane == len(lanes):
            lanes.append(0.0)
        lanes[lane] = event.free
        found[event] = queue.value * LANES + lane
    return found


def _us(ns: float) -> float:
    return round(ns / 1000, 6)


def _names(core: int, program: Program, threads: set[int]) -> Iterator[dict[str, Any]]:
    name = f"core {core}: {program.kernel.launch_name}"
    yield {"ph": "M", "name": "process_name", "pid": core, "args": {"name": name}}
    for thread in sorted(threads):
        queue, lane = Queue(thread // LANES), thread % LANES
        shown = f"{queue.name} ({lane + 1})" if lane else queue.name
        where = {"pid": core, "tid": thread}
        yield {"ph": "M", "name": "thread_name", **where, "args": {"name": shown}}
        yield {"ph": "M", "name": "thread_sort_index", **where, "args": {"sort_index": thread}}


def _instructions(timeline: Timeline, lanes: dict[Event, int]) -> Iterator[dict[str, Any]]:
    described: dict[tuple[Operation, int], dict[str, Any]] = {}
    for number, event in enumerate(timeline.events):
        instruction = event.instruction
        key = (instruction.op, instruction.number)
        args = described.get(key)
        if args is None:
            args = described[key] = _described(event)
        waited = {"begins after": event.reason.value}
        where = {"pid": event.core, "tid": lanes[event]}
        yield {
            "ph": "X",
            "name": instruction.mnemonic,
            "cat": instruction.what.value,
            **where,
            "ts": _us(event.begin),
            "dur": _us(event.free - event.begin),
            "args": {**args, **waited, "result at (ns)": round(event.end, 3)},
        }
        if event.reason is Reason.semaphore and event.cause is not None:
            yield from _flow(number, event.cause, event, lanes)


def _flow(
    number: int, cause: Event, event: Event, lanes: dict[Event, int]
) -> Iterator[dict[str, Any]]:
    """Yield an arrow from the start of an event's cause to the start of the event."""
    for phase, end, time in (("s", cause, cause.begin), ("f", event, event.begin)):
        yield {
            "ph": phase,
            "name": "semaphore",
            "cat": "semaphore",
            "id": number,
            "pid": end.core,
            "tid": lanes[end],
            "ts": _us(time),
            **({"bp": "e"} if phase == "f" else {}),
        }


def _described(event: Event) -> dict[str, Any]:
    instruction = event.instruction
    op = instruction.op
    found: dict[str, Any] = {"number": instruction.number, "op": op.name}
    place = next(iter(positions(op.location)), None)
    if place is not None:
        found["source"] = str(place)
    found["operands"] = ", ".join(_operand(value) for value in op.operands)
    return found


def _operand(value: SSAValue) -> str:
    if not is_tile(value):
        return value.name_hint or "number"
    return f"{base_of(value).name_hint or 'unnamed'} {info_of(value)}"


# ------------------------------------------------------------------ counters


def _counter(core: int, name: str, time: float, values: dict[str, float]) -> dict[str, Any]:
    return {"ph": "C", "name": name, "pid": core, "tid": 0, "ts": _us(time), "args": values}


def _memory(core: int, program: Program, events: list[Event]) -> Iterator[dict[str, Any]]:
    """Yield the bytes per partition in use; a tile counts from its first to its last use."""
    begins: dict[Operation, float] = {}
    ends: dict[Operation, float] = {}
    for event in events:
        op = event.instruction.op
        begins.setdefault(op, event.begin)
        ends[op] = max(event.end, ends.get(op, 0.0))
    live = program.placement.live
    for region in (MemoryRegion.sbuf, MemoryRegion.psum):
        changes: list[tuple[float, int]] = []
        for tile in live.ranges:
            first, last = live.instructions[tile.start], live.instructions[tile.end]
            if tile.tile.region is region and first in begins and last in ends:
                size = tile.tile.partition_bytes
                changes += ((begins[first], size), (ends[last], -size))
        used = 0
        for time, change in sorted(changes):
            used += change
            yield _counter(core, f"{region.name.upper()} bytes", time, {"bytes": used})


def _bandwidth(
    core: int, program: Program, events: list[Event], total: float
) -> Iterator[dict[str, Any]]:
    """Yield the DMA bandwidth in GB/s. The bytes of a transfer are spread evenly over its time."""
    transfers = [event for event in events if event.instruction.what is What.transfer]
    if not transfers or not total:
        return
    durations = Durations(program.target)
    changes: list[tuple[float, float]] = []
    for event in transfers:
        rate = durations.transfer(event.instruction).bytes / max(1.0, event.free - event.begin)
        changes += ((event.begin, rate), (event.free, -rate))
    step = total / BANDWIDTH_STEPS
    rate, shown = 0.0, -step
    changes.sort()
    for index, (time, change) in enumerate(changes):
        rate += change
        if time - shown >= step or index == len(changes) - 1:
            shown = time
            yield _counter(core, "DMA GB/s", time, {"GB/s": round(max(0.0, rate), 3)})
