"""Costs of instructions, computed once per form (a group of instructions with equal costs)."""

from __future__ import annotations

from typing import NamedTuple

from nkijit.dialects.declare.cost import transfer_of
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.hardware.targets import Target
from nkijit.passes.compile.analyses.ordering import is_movable
from nkijit.passes.lower.forms import LoweredForm, LoweredForms
from nkijit.passes.lower.program import Queue


class InstructionCost(NamedTuple):
    """The cost of an instruction, with times in ns."""

    queue: Queue
    resource: object
    """The resource that the instruction occupies: a queue, or `"dma"` for all DMA rings."""
    issue: float
    """The time from the instruction's start until the resource can begin another instruction."""
    latency: float
    """The time from the instruction's start until other instructions can use the results."""
    table: str | None
    """The activation table that the instruction needs; None if it needs none."""
    form: int
    """The number of the instruction's form; instructions of one form have equal costs."""


class Costs:
    """The costs of instructions on a target, cached by form."""

    def __init__(self, target: Target):
        self._target = target
        self._forms = LoweredForms(target)
        self._known: dict[int, InstructionCost] = {}
        self._movable: dict[int, bool] = {}

    def of(self, op: NisaOp) -> InstructionCost:
        """Return the cost of an instruction."""
        form = self._forms.of(op)
        return self._known.get(form.number) or self._find(op, form)

    def if_movable(self, op: NisaOp) -> InstructionCost | None:
        """Return the cost of an instruction if it is movable (see `is_movable`); None otherwise."""
        form = self._forms.of(op)
        movable = self._movable.get(form.number)
        if movable is None:
            movable = self._movable[form.number] = is_movable(op)
        if not movable:
            return None
        return self._known.get(form.number) or self._find(op, form)

    def _find(self, op: NisaOp, form: LoweredForm) -> InstructionCost:
        if form.trigger is not None:
            moved = transfer_of(op, self._target)
            issue = max(moved.busy_ns(self._target), moved.trigger_ns)
            latency, table = moved.latency_ns, None
        else:
            times = [stage.cost.time(op, self._target) for _, stage in form.stages]
            issue = sum(issue for issue, _ in times)
            latency = issue + max(wait - busy for busy, wait in times)
            table = form.table
        resource = "dma" if form.queue.is_ring else form.queue
        found = InstructionCost(form.queue, resource, issue, latency, table, form.number)
        self._known[form.number] = found
        return found
