"""`schedule`: orders each queue, and adds the fewest waits that preserve all dependences.

A wait is omitted if it is implied: by the order of its own queue, or by the waits of another
awaited item. For every item, the analysis tracks how far each queue has certainly progressed when
the item starts. Only items beyond that progress need a wait, and only if no other wait implies it.
Each remaining wait is necessary: nothing else keeps the two items in order.

The same is done for dependences on the previous iteration of a loop.
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
"""For each queue, the number of items of a block that have certainly ended at some point."""
Signals = dict[tuple[Queue, Loop | None], int]
"""For each queue and loop, the final count of the queue's signals; see `Program.signals`."""


def lower(
    kernel: KernelOp,
    target: Target | None = None,
    placement: Placement | None = None,
    *,
    passed_over: PassedOver | None = None,
    origins: Mapping[Operation, Operation] | None = None,
) -> Program:
    """Lower a kernel to the queues of one core, with addresses, waits and signals.

    Args:
        kernel: a verified kernel.
        target: the hardware; the kernel's target by default.
        placement: the addresses of the kernel's tiles; `allocate(kernel)` by default.
        passed_over: the kernel's errors, if the kernel is lowered in spite of errors: memories then
            count as large enough for its tiles.
        origins: if the kernel is a changed copy, the original of each of its operations.

    Raises:
        LoweringError: the kernel uses something that is not modelled, or no addresses are found.
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
        # This is only a warning in verification: another allocator may find addresses.
        passed_over = replace(passed_over, does_not_fit=(NO_LAYOUT.id,))
    return replace(program, passed_over=passed_over)


def schedule(program: Program) -> Program:
    """Order the queues of a program, and add waits and signals to its items."""
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
    """Set the signal counts of awaited items, numbered within each queue and block."""
    awaited = {wait.before for item in items for wait in item.waits}
    for item in items:
        if item in awaited:
            key = (item.queue, loop)
            item.signal = signals[key] = signals.get(key, 0) + 1


class _Block:
    """The certain progress of each queue, during a walk over the items of a block."""

    def __init__(self) -> None:
        self._last: list[Known] = [[0] * len(QUEUES) for _ in QUEUES]
        """For each queue, the certain progress of all queues at the end of its last item."""
        self._ended: dict[Item, Known] = {}
        """For each item, the certain progress of all queues at the end of the item.

        The item's own queue counts from 1.
        """

    def add_waits(self, items: Sequence[Item]) -> None:
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
        """Add the necessary waits for the previous iteration to each item.

        Call `add_waits` first.
        """
        last = list(self._last)
        before: dict[Item, Known] = {}
        """For each item, the certain progress in the previous iteration at the item's end."""
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
        """Add the waits of an item that `known` does not imply, and update `known`."""
        ended = self._ended
        furthest: dict[int, tuple[int, Wait]] = {}
        """For each queue, the last item to wait for, with its position in the queue."""
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
                # Among several reasons, report the true dependence: it is the most helpful one.
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
