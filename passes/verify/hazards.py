"""Warnings about engines that wait for each other only because tiles reuse memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Operation

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.ncc import TRIGGER_OF
from nkijit.dialects.nisa.cores import CoreBarrierOp
from nkijit.dialects.nisa.registers import RegisterLoadOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.rule_texts.hazards import ANTI_DEPENDENCE, OUTPUT_DEPENDENCE
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.flow.dependences import (
    QUEUES,
    Dependence,
    DependenceKind,
    Dependences,
    Execution,
)
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic


@dataclass(slots=True)
class _Clocks:
    """For each event, the latest event of each queue that has ended when the event begins."""

    queues: list[int] = field(default_factory=list[int])
    ended: list[list[int]] = field(default_factory=list[list[int]])

    def join(self, clock: list[int], before: int) -> None:
        """Record in a clock that an event, and all events that it waited for, have ended."""
        for queue, number in enumerate(self.ended[before]):
            if number > clock[queue]:
                clock[queue] = number
        queue = self.queues[before]
        clock[queue] = max(clock[queue], before)

    def has_ended(self, clock: list[int], before: int) -> bool:
        return clock[self.queues[before]] >= before


def check_serialised(program: Dependences) -> Iterator[Diagnostic]:
    """Yield a warning for each operation that waits for another engine only to reuse memory.

    Not reported: operations that data dependences or the kernel's explicit edges order already, and
    waits that the kernel cannot avoid.
    """
    ops: list[Operation] = []
    clocks = _Clocks()
    last: dict[int, int] = {}
    named: dict[str, int] = {}
    reported: set[tuple[Operation, Operation]] = set()
    known: dict[tuple[object, ...], Diagnostic] = {}
    for event in program.events:
        op, queue = event.op, event.queue
        clock = [-1] * QUEUES
        if queue in last:
            clocks.join(clock, last[queue])
        for name in _runs_after(op):
            if name in named:
                clocks.join(clock, named[name])
        for dependence in event.dependences:
            if dependence.kind is DependenceKind.true:
                clocks.join(clock, dependence.before)
        # Readers of a tile wait for its writer, so waiting for them covers the writer.
        for dependence in sorted(event.dependences, key=_anti_first):
            before = ops[dependence.before]
            if clocks.has_ended(clock, dependence.before):
                continue
            clocks.join(clock, dependence.before)
            if (before, op) not in reported and not _is_unavoidable(before, dependence):
                reported.add((before, op))
                # An unrolled loop repeats its findings, at the same locations.
                where = (op.location, before.location, dependence.kind)
                tile = base_of(dependence.value).name_hint
                key = (*map(id, where), id(dependence.value.type), tile)
                if isinstance(op.location, UnknownLoc) or key not in known:
                    known[key] = _diagnose(event, before, dependence)
                yield known[key]
        ops.append(op)
        clocks.queues.append(queue)
        clocks.ended.append(clock)
        last[queue] = event.number
        if "name" in op.properties and is_instruction(op):
            named[op.label] = event.number


def _runs_after(op: Operation) -> tuple[str, ...]:
    return op.runs_after if "after" in op.properties and is_instruction(op) else ()


def _anti_first(dependence: Dependence) -> bool:
    return dependence.kind is not DependenceKind.anti


def _is_unavoidable(before: Operation, dependence: Dependence) -> bool:
    """True if the wait would also occur with another tile or other bytes, or is intended."""
    if isinstance(before, RegisterLoadOp):
        return True  # loops wait for the register anyway; a load takes as long as a wait
    if isinstance(before, CoreBarrierOp):
        return True  # the wait is the purpose of a barrier
    if type(before) in TRIGGER_OF:
        return True  # the instruction that writes the metadata runs the prepared collective
    base = base_of(dependence.value)
    if dependence.kind is not DependenceKind.output or not info_of(base).region.on_chip:
        return False
    # Engines can start only at a few partitions, so the surrounding rows are filled first.
    partitions = info_of(dependence.value).partitions
    return any(
        info_of(value).partitions > partitions
        for value, role in reads_and_writes(before)
        if role is not Role.read and base_of(value) is base
    )


def _diagnose(event: Execution, before: Operation, dependence: Dependence) -> Diagnostic:
    tile = base_of(dependence.value).name_hint or "?"
    if dependence.kind is DependenceKind.anti:
        rule, verb = ANTI_DEPENDENCE, "reads"
    else:
        rule, verb = OUTPUT_DEPENDENCE, "writes"
    return diagnose(
        rule,
        event.op,
        f"writes '{tile}', and waits for {before.name}, which {verb} it",
        [("dst", dependence.value)],
        related=[(before, f"{verb} '{tile}'")],
    )
