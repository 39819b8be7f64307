"""`spread-engines`: distributes instructions without `engine=` over the Vector and Scalar Engine.

An instruction without `engine=` runs on a documented default engine. Instructions are distributed
in program order: each goes to the engine that, by the cost model, would finish it first without
waits.

On NeuronCore-v2, copies and `tensor_scalar` move; on newer generations, only copies out of PSUM.
The source is published profiles of kernels. No profile shows moves to GpSimd. The Scalar Engine of
NeuronCore-v2 copies with `activation` (API reference, nki.isa.tensor_copy), which passes on all
bits of floating-point numbers.

An instruction does not move to an engine on which it breaks a rule.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.rewriter import InsertPoint, Rewriter

from nkijit.dialects.attributes import EngineAttr, OperatorAttr
from nkijit.dialects.declare.building import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.dtypes import Kind
from nkijit.dialects.hardware.words import MemoryRegion, engine, nc_version
from nkijit.dialects.nisa.activation import ActivationOp
from nkijit.dialects.nisa.elementwise import TensorScalarOp
from nkijit.dialects.nisa.movement import TensorCopyOp
from nkijit.dialects.nisa.universal_rules import all_rules_of
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.tiles import info_of
from nkijit.passes.compile.analyses.accesses import is_free
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.analyses.costs import InstructionCost
from nkijit.passes.compile.analyses.regions import Region
from nkijit.passes.compile.passes.rename_tiles import Origins
from nkijit.passes.lower.program import Queue

_ENGINES = (engine.vector, engine.scalar)
"""The engines between which instructions move."""


def spread_engines(
    kernel: KernelOp, origins: Origins | None = None, analyses: Analyses | None = None
) -> int:
    """Change the engines of instructions; returns the number of changed instructions.

    `origins` gets the instructions that replace others.
    """
    program = _Program(analyses or Analyses(kernel), {} if origins is None else origins)
    changed = sum(
        program.distribute(region)
        for _, regions in program.analyses.regions.in_blocks
        for region in regions
        if region.ops
    )
    if program.replaced:
        program.analyses.changed()
    return changed


_Choice = tuple[Attribute | None, InstructionCost]
"""A value of `engine` (None: the default), and the instruction's cost with that value."""


class _Program:
    """The state of the pass, with the possible engines of each class of equal instructions."""

    def __init__(self, analyses: Analyses, origins: Origins):
        self.analyses = analyses
        self.replaced = False
        """Whether instructions were replaced by others."""
        self._origins = origins
        self._target = analyses.kernel.target
        self._costs = analyses.costs_by_form
        self._moves_all = self._target.version < nc_version.gen3
        """Whether more instructions than copies out of PSUM move."""
        self._known: dict[int, list[_Choice]] = {}

    def distribute(self, region: Region) -> int:
        """Distribute the instructions of a region; returns the number of those that moved."""
        choices = list(map(self._choices, region.ops, region.costs))
        if all(len(each) == 1 for each in choices):
            return 0
        chosen = _choose(choices)
        moved = [
            (op, attribute)
            for op, (attribute, _) in zip(region.ops, chosen, strict=True)
            if attribute is not None
        ]
        if not moved:
            return 0
        costs = [cost for _, cost in chosen]
        region.costs = costs
        self.analyses.costs.update(zip(map(id, region.ops), costs, strict=True))
        for op, attribute in moved:
            if self._is_replaced(op):
                self._replace(op)
            else:
                op.properties["engine"] = attribute
        return len(moved)

    def _is_replaced(self, op: NisaOp) -> bool:
        """Whether an instruction runs on the Scalar Engine only as an `activation`."""
        return self._moves_all and isinstance(op, TensorCopyOp)

    def _replace(self, op: NisaOp) -> None:
        new = _activation(op)
        self._origins[new] = self._origins.get(op, op)
        Rewriter.insert_op(new, InsertPoint.before(op))
        Rewriter.erase_op(op)
        self.replaced = True

    def _choices(self, op: NisaOp, default: InstructionCost) -> list[_Choice]:
        """Return the engines on which an instruction may run, the default first."""
        known = self._known.get(default.form)
        if known is not None and (len(known) == 1 or is_free(op)):
            return known
        found: list[_Choice] = [(None, default)]
        if self._moves(op) and op.value_of("engine") is engine.unknown:
            if not is_free(op):
                return found
            found += self._others(op, default.queue)
        self._known[default.form] = found
        return found

    def _moves(self, op: NisaOp) -> bool:
        """Whether the vendor's compiler chooses the engine of such an instruction."""
        if self._moves_all:
            return isinstance(op, (TensorCopyOp, TensorScalarOp))
        return isinstance(op, TensorCopyOp) and info_of(op.src).region is MemoryRegion.psum

    def _others(self, op: NisaOp, default: Queue) -> list[_Choice]:
        if self._is_replaced(op):
            return self._as_activation(op)
        found: list[_Choice] = []
        original = op.properties.get("engine")
        for other in _ENGINES:
            if Queue.of_engine(other) is default:
                continue
            attribute = op.properties["engine"] = EngineAttr.of(other)
            if all(rule.check(op, self._target) is None for rule in all_rules_of(type(op))):
                found.append((attribute, self._costs.of(op)))
        _set_engine(op, original)
        return found

    def _as_activation(self, op: NisaOp) -> list[_Choice]:
        """Return the Scalar Engine, with the cost of an `activation`, if it keeps all bits."""
        if any(info_of(value).dtype.kind is not Kind.float for value in op.operands):
            return []
        new = _activation(op)
        found: list[_Choice] = []
        if all(rule.check(new, self._target) is None for rule in all_rules_of(ActivationOp)):
            found.append((EngineAttr.of(engine.scalar), self._costs.of(new)))
        new.drop_all_references()
        return found


def _activation(op: NisaOp) -> ActivationOp:
    """Create the `activation` that computes the same as a `tensor_copy`."""
    dst, src = op.required("dst"), op.required("src")
    return instruction(ActivationOp, op.location, dst=dst, data=src, op=OperatorAttr.of("copy"))


def _set_engine(op: NisaOp, attribute: Attribute | None) -> None:
    if attribute is None:
        op.properties.pop("engine", None)
    else:
        op.properties["engine"] = attribute


def _choose(choices: Sequence[Sequence[_Choice]]) -> list[_Choice]:
    """Return a choice for each instruction: the engine that would finish it first."""
    busy: dict[object, float] = {}
    found: list[_Choice] = []
    for each in choices:
        best = min(each, key=lambda one: busy.get(one[1].resource, 0.0) + one[1].issue)
        resource = best[1].resource
        busy[resource] = busy.get(resource, 0.0) + best[1].issue
        found.append(best)
    return found
