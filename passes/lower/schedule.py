"""`schedule`: the order of each queue, and the fewest waits and signals that keep it correct.

A wait is left out when it is implied: by the queue's own order, or by what another queue that is
waited for has itself waited for. For every instruction it is known how far each other queue has
certainly come when it begins; only instructions beyond that are waited for, and of those only the
ones that no other one implies. What remains is needed: nothing else keeps the two in order.

In a loop the same is done for what the previous iteration has certainly ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.ir import Operation

from nkijit.dialects.engine.queues import QUEUES
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.rule_texts.memory import NO_LAYOUT
from nkijit.dialects.walks import unchanged
from nkijit.passes.analysis.flow.dependences import DependenceKind
from nkijit.passes.diagnostics.passed_over import PassedOver
from nkijit.passes.lower.durations import Durations
from nkijit.passes.lower.edges import with_edges_in_order
from nkijit.passes.lower.engines import lower_to_engines
from nkijit.passes.lower.order import Ordering
from nkijit.passes.lower.placement import allocate
from nkijit.passes.lower.program import (
    EngineInstruction,
    Item,
    Loop,
    Placement,
    Program,
    Queue,
    Wait,
)

Known = list[int]
"""For each queue, how many items of a block have certainly ended."""
Signals = dict[tuple[Queue, Loop | None], int]
"""`Program.signals`."""


def lower(
    kernel: KernelOp,
    target: Target | None = None,
    placement: Placement | None = None,
    *,
    passed_over: PassedOver | None = None,
    origins: Mapping[Operation, Operation] | None = None,
) -> Program:
    """The queues of one core, with addresses, waits and signals.

    Args:
        kernel: a verified kernel.
        target: its hardware, when not the kernel's own numbers hold.
        placement: where its tiles lie; `allocate(kernel)` by default.
        passed_over: its errors, if it is to be lowered in spite of them: memories are then taken
            to be as large as its tiles need.
        origins: for a changed copy, the operation that each of its operations is a copy of.

    Raises LoweringError for what is not modelled, and when no addresses are found.
    """
    target = target or kernel.target
    known = dict(origins or {})
    with unchanged([kernel]):
        if placement is None:
            kernel, copies = with_edges_in_order(kernel)
            known |= {op: known.get(copied, copied) for op, copied in copies.items()}
        with unchanged([kernel]):
            placement = placement or allocate(kernel, target, bounded=passed_over is None)
            program = schedule(lower_to_engines(kernel, target, placement, known))
    if passed_over is None:
        return program
    if not (passed_over.does_not_fit or placement.fits(target)):
        # Only a warning of verification: another allocator may find addresses.
        passed_over = replace(passed_over, does_not_fit=(NO_LAYOUT.id,))
    return replace(program, passed_over=passed_over)


def schedule(program: Program) -> Program:
    """Order the queues of a program, and add the waits and signals of its items."""
    ordering = Ordering(program, Durations(program.target))
    blocks: dict[Loop | None, list[Item]] = {}
    signals: Signals = {}
    for loop in program.blocks:
        ordered = blocks[loop] = ordering.of(loop)
        block = _Block()
        block.add_waits(ordered)
        if loop is not None:
            block.add_carried_waits(ordered)
        _count_signals(signals, loop, ordered)
    return replace(program, blocks=blocks, signals=signals, scheduled=True)


def _count_signals(signals: Signals, loop: Loop | None, items: Sequence[Item]) -> None:
    """Number the items of each queue that others wait for."""
    awaited = {wait.before for item in items for wait in item.waits}
    for item in items:
        if item in awaited:
            key = (item.queue, loop)
            item.signal = signals[key] = signals.get(key, 0) + 1


class _Block:
    """What is known of the queues while the items of a block are looked at in order."""

    def __init__(self) -> None:
        self._last: list[Known] = [[0] * len(QUEUES) for _ in QUEUES]
        """What has ended with the last item of each queue."""
        self._ended: dict[Item, Known] = {}
        """What has ended with each item: of its own queue all up to its place there, from 1."""

    def add_waits(self, items: Sequence[Item]) -> None:
        """Give every item the waits that it needs."""
        last, ended = self._last, self._ended
        for item in items:
            queue = item.queue
            known = last[queue]
            place = known[queue] + 1
            trigger = item.trigger if isinstance(item, EngineInstruction) else None
            if trigger is not None:
                known = [*map(max, known, ended[trigger])]
            else:
                known = known.copy()
                if item.edges:
                    self._wait(item, known, carried=False)
            known[queue] = place
            last[queue] = ended[item] = known

    def add_carried_waits(self, items: Sequence[Item]) -> None:
        """The same for what items of one iteration wait for in the one before.

        Needs `add_waits`.
        """
        last = list(self._last)
        before: dict[Item, Known] = {}
        """What of the previous iteration has ended with each item."""
        for item in items:
            queue = item.queue
            known = last[queue].copy()
            trigger = item.trigger if isinstance(item, EngineInstruction) else None
            if trigger is not None:
                known = [*map(max, known, before[trigger])]
            for wait in item.waits:
                known = [*map(max, known, before[wait.before])]
            if item.edges:
                self._wait(item, known, carried=True)
            last[queue] = before[item] = known

    def _wait(self, item: Item, known: Known, *, carried: bool) -> None:
        """Add the waits of an item that are not implied by what is known, and what they imply."""
        ended = self._ended
        furthest: dict[int, tuple[int, Wait]] = {}
        """The last item of each queue, by its place there."""
        for wait in item.edges:
            before, is_carried, kind, _ = wait
            if is_carried is not carried:
                continue
            queue = before.queue
            place = ended[before][queue]
            if known[queue] >= place:
                continue
            other = furthest.get(queue)
            if other is not None and (
                # Of several reasons the author will look for the data first.
                other[0] > place or (other[0] == place and kind is not DependenceKind.true)
            ):
                continue
            furthest[queue] = place, wait
        if not furthest:
            return
        waits = [wait for _, wait in furthest.values()]
        if len(waits) > 1:
            all_ended = [ended[wait.before] for wait in waits]
            waits = [
                wait
                for number, (queue, (place, wait)) in enumerate(furthest.items())
                if not any(
                    other != number and known_then[queue] >= place
                    for other, known_then in enumerate(all_ended)
                )
            ]
        item.waits += waits
        for wait in waits:
            known[:] = map(max, known, ended[wait.before])
