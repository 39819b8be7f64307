"""`spread-engines`: what the author leaves to the compiler runs where there is time for it.

An instruction without `engine=` has a documented engine by default. Where that is the busiest of
all resources in a stretch of the program, DMA and the Tensor Engine among them, its instructions
are dealt out in program order: each to the engine that would have ended it first, by the cost
model, had nobody waited. That may hold up what depends on them, so it is kept only if the stretch
as a whole, as `list-schedule` would order it, takes less time. What the rules do not allow on an
engine stays off it, and so do instructions that an engine computes in another way: sums of 32-bit
integers. Nothing goes to an engine that shares the port to SBUF with the one by default (Vector and
GpSimd on NeuronCore-v2): the two could only take turns.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute

from nkijit.dialects.attributes import EngineAttr
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.hardware.words import MemoryRegion, engine
from nkijit.dialects.nisa.elementwise import TensorScalarOp, TensorTensorOp, native_int32
from nkijit.dialects.nisa.movement import MemsetOp, TensorCopyOp
from nkijit.dialects.nisa.universal_rules import all_rules_of
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.compile.analyses.accesses import is_free
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.analyses.costs import InstructionCost
from nkijit.passes.compile.analyses.regions import Region
from nkijit.passes.compile.passes.list_schedule import best_order
from nkijit.passes.lower.ports import shared_ports
from nkijit.passes.lower.program import Queue

_GAIN = 0.98
"""The part of its time that a stretch may take; nearer to it nothing is known to be gained."""
_SPREAD = (TensorTensorOp, TensorScalarOp, TensorCopyOp, MemsetOp)
"""Instructions that several engines run in the same way."""


def spread_engines(kernel: KernelOp, analyses: Analyses | None = None) -> int:
    """Give instructions other engines; returns how many.

    `analyses`: what is known of the kernel.
    """
    program = _Program(analyses or Analyses(kernel))
    return sum(
        program.deal(stretch)
        for _, stretches in program.analyses.stretches.in_blocks
        for stretch in stretches
        if stretch.ops
    )


_Choice = tuple[Attribute | None, InstructionCost]
"""A value of `engine`, None for the one by default, and what the instruction then costs."""


class _Program:
    """What engines there are for the instructions of a kernel."""

    def __init__(self, analyses: Analyses):
        self.analyses = analyses
        self._target = analyses.kernel.target
        self._costs = analyses.costs_by_form
        self._port = shared_ports(self._target).get(MemoryRegion.sbuf, frozenset())
        """The engines that share one to SBUF."""
        self._known: dict[int, list[_Choice]] = {}

    def deal(self, stretch: Region) -> int:
        """Give the instructions of a stretch engines, if that makes it faster."""
        choices = list(map(self._choices, stretch.ops, stretch.costs))
        if all(len(each) == 1 for each in choices):
            return 0
        dealt = _dealt(choices)
        moved = [
            (op, attribute)
            for op, (attribute, _) in zip(stretch.ops, dealt, strict=True)
            if attribute is not None
        ]
        if not moved:
            return 0
        self.analyses.stretches.prepare(stretch)
        costs = [cost for _, cost in dealt]
        before, order = best_order(stretch, stretch.costs, self.analyses)
        after, other = best_order(stretch, costs, self.analyses)
        if after >= _GAIN * before:
            stretch.order = order
            return 0
        stretch.costs, stretch.order = costs, other
        self.analyses.costs.update(zip(map(id, stretch.ops), costs, strict=True))
        for op, attribute in moved:
            op.properties["engine"] = attribute
        return len(moved)

    def _choices(self, op: NisaOp, default: InstructionCost) -> list[_Choice]:
        """The engines that an instruction may run on, the one by default first."""
        known = self._known.get(default.form)
        if known is not None and (len(known) == 1 or is_free(op)):
            return known
        found: list[_Choice] = [(None, default)]
        if type(op) in _SPREAD and op.value_of("engine") is engine.unknown:
            if not is_free(op):
                return found
            if not (isinstance(op, TensorTensorOp) and native_int32(op)):
                found += self._others(op, default.queue)
        self._known[default.form] = found
        return found

    def _others(self, op: NisaOp, default: Queue) -> list[_Choice]:
        found: list[_Choice] = []
        given = op.properties.get("engine")
        for other in op.SPEC.engines:
            queue = Queue.of_engine(other)
            if queue is default or {queue, default} <= self._port:
                continue
            attribute = op.properties["engine"] = EngineAttr.of(other)
            if all(rule.check(op, self._target) is None for rule in all_rules_of(type(op))):
                found.append((attribute, self._costs.of(op)))
        _set_engine(op, given)
        return found


def _set_engine(op: NisaOp, attribute: Attribute | None) -> None:
    if attribute is None:
        op.properties.pop("engine", None)
    else:
        op.properties["engine"] = attribute


def _dealt(choices: Sequence[Sequence[_Choice]]) -> list[_Choice]:
    """An engine for each instruction of a stretch, from those that there are."""
    total: dict[object, float] = {}
    for (_, cost), *_ in choices:
        total[cost.resource] = total.get(cost.resource, 0.0) + cost.issue
    busiest = max(total, key=total.__getitem__)
    busy: dict[object, float] = {}
    found: list[_Choice] = []
    for each in choices:
        best = each[0]
        if best[1].resource == busiest:
            best = min(each, key=lambda one: busy.get(one[1].resource, 0.0) + one[1].issue)
        resource = best[1].resource
        busy[resource] = busy.get(resource, 0.0) + best[1].issue
        found.append(best)
    return found
