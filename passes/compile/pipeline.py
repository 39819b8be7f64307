"""The compiler: the list of its passes, and functions that run them and lower the result."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from nkijit.dialects.declare.creation import copied
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.passes.analysis.flow.edge_order import put_in_order
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.passes.accumulate_in_psum import accumulate_in_psum
from nkijit.passes.compile.passes.fit import does_not_fit, fit
from nkijit.passes.compile.passes.forward_copies import forward_copies
from nkijit.passes.compile.passes.hoist_invariant import hoist_invariant
from nkijit.passes.compile.passes.list_schedule import list_schedule
from nkijit.passes.compile.passes.remove_unused import remove_unused
from nkijit.passes.compile.passes.rename_tiles import Origins, rename_tiles
from nkijit.passes.compile.passes.resolve_accumulation import resolve_accumulation
from nkijit.passes.compile.passes.share_loads import share_loads
from nkijit.passes.compile.passes.share_results import share_results
from nkijit.passes.compile.passes.spread_engines import spread_engines
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.diagnostics.passed_over import PassedOver
from nkijit.passes.lower.edges import with_edges_in_order
from nkijit.passes.lower.program import LoweringError, Program
from nkijit.passes.lower.schedule import lower


class CompilerPass(ModulePass):
    """A pass over verified kernels that does not change a bit of their results."""

    needs_memory: ClassVar[bool] = False
    """True if the pass extends the lifetimes of tiles, so that the kernel may need more memory."""

    def change(self, analyses: Analyses, origins: Origins) -> int:
        """Change a kernel in place; returns the number of changes (e.g. removed loads).

        Args:
            analyses: the kernel's cached analyses; the pass discards those that its changes affect.
            origins: maps the operations of a copied kernel to their originals; gets the new
                operations.
        """
        raise NotImplementedError

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            put_in_order(kernel)
            self.change(Analyses(kernel), {})


class ResolveAccumulationPass(CompilerPass):
    """Set `accumulate` on matmuls whose program position decides whether they accumulate."""

    name = "resolve-accumulation"

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return resolve_accumulation(analyses.kernel)


class RenameTilesPass(CompilerPass):
    """Split a tile into several allocations where no reader needs the earlier contents."""

    name = "rename-tiles"

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return rename_tiles(analyses.kernel, origins, analyses=analyses)


class HoistInvariantPass(CompilerPass):
    """Move loop-invariant instructions before their loop."""

    name = "hoist-invariant"
    needs_memory = True

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return hoist_invariant(analyses.kernel, analyses)


class AccumulateInPsumPass(CompilerPass):
    """Accumulate the products of matmuls in PSUM instead of adding them in SBUF."""

    name = "accumulate-in-psum"
    needs_memory = True

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return accumulate_in_psum(analyses.kernel, origins, analyses)


class ShareLoadsPass(CompilerPass):
    """Remove loads of data that is still on chip."""

    name = "share-loads"
    needs_memory = True

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return share_loads(analyses.kernel, analyses)


class ShareResultsPass(CompilerPass):
    """Remove instructions that recompute a result from unchanged operands."""

    name = "share-results"
    needs_memory = True

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return share_results(analyses.kernel, analyses)


class ForwardCopiesPass(CompilerPass):
    """Let readers of a copy read its source."""

    name = "forward-copies"
    needs_memory = True

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return forward_copies(analyses.kernel, origins, analyses)


class RemoveUnusedPass(CompilerPass):
    """Remove instructions with unread results."""

    name = "remove-unused"

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return remove_unused(analyses.kernel, analyses)


class SpreadEnginesPass(CompilerPass):
    """Move instructions without `engine=` from the busiest engine to others."""

    name = "spread-engines"

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return spread_engines(analyses.kernel, origins, analyses)


class FitPass(CompilerPass):
    """Spill tiles to HBM, or reload them, where they exceed the capacity of SBUF."""

    name = "fit"

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return fit(analyses.kernel, origins, analyses=analyses)


class ListSchedulePass(CompilerPass):
    """Reorder the instructions of each region with a list scheduler."""

    name = "list-schedule"
    needs_memory = True

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return list_schedule(analyses.kernel, analyses)


COMPILER: tuple[type[CompilerPass], ...] = (
    ResolveAccumulationPass,
    RenameTilesPass,
    HoistInvariantPass,
    AccumulateInPsumPass,
    ShareLoadsPass,
    ShareResultsPass,
    ForwardCopiesPass,
    RemoveUnusedPass,
    FitPass,
    SpreadEnginesPass,
    ListSchedulePass,
)
"""All passes in execution order.

Sharing and forwarding leave instructions without readers, which `remove-unused` then removes.
Scheduling comes last.
"""


ORDERING = frozenset({SpreadEnginesPass.name, ListSchedulePass.name})
"""Names of the passes that choose the order and the engines of instructions."""


@dataclass(frozen=True)
class Compiled:
    """The result of running the compiler's passes on a copy of a kernel."""

    kernel: KernelOp
    """The changed copy of the kernel."""
    origins: Mapping[Operation, Operation]
    """Maps each operation of the copy to the original that it is copied or derived from."""
    changes: Mapping[str, int]
    """The number of changes by pass name; see `CompilerPass.change`."""

    @property
    def is_changed(self) -> bool:
        """Whether any pass changed the copy."""
        return any(self.changes.values())


def compiled(kernel: KernelOp, without: Collection[str] = ()) -> Compiled:
    """Return a copy of a verified kernel after all passes.

    Args:
        kernel: not changed.
        without: names of passes to skip.
    """
    copy, origins = with_edges_in_order(kernel)
    if copy is kernel:
        copy, origins = copied(kernel)
    analyses = Analyses(copy)
    changes = {
        step.name: step().change(analyses, origins) for step in COMPILER if step.name not in without
    }
    for op in [op for op in origins if op.parent is None and op is not copy]:
        del origins[op]
    return Compiled(copy, origins, changes)


def program_of(
    kernel: KernelOp,
    schedule: Schedule,
    target: Target | None = None,
    passed_over: PassedOver | None = None,
    without: Collection[str] = (),
    own: Program | None = None,
) -> Program:
    """Lower a verified kernel to the queues of one core, in the author's or the compiler's order.

    A kernel that exceeds SBUF is compiled even with `Schedule.author`. If the compiled kernel
    does not fit either, it is compiled again without `list-schedule`, then without all passes that
    may need more memory.

    Args:
        kernel: the kernel of one core.
        schedule: the order and the tiles to use.
        target: see `lower`.
        passed_over: see `lower`.
        without: names of compiler passes to skip.
        own: the program in the author's order, if known; returned if no pass changes the kernel.

    Raises:
        LoweringError: see `lower`.
    """
    if schedule is Schedule.author:
        lenient = passed_over is not None and not passed_over.does_not_fit
        try:
            if not (lenient and does_not_fit(kernel)):
                return lower(kernel, target, passed_over=passed_over)
        except LoweringError as error:
            if not (error.out_of_memory and does_not_fit(kernel)):
                raise
    demanding = [step.name for step in COMPILER if step.needs_memory]

    def compile_without(names: Collection[str]) -> Program:
        result = compiled(kernel, {*without, *names})
        if own is not None and not result.is_changed:
            return replace(own, changes=result.changes)
        program = lower(result.kernel, target, passed_over=passed_over, origins=result.origins)
        return replace(program, changes=result.changes)

    # Passes that keep tiles in use for longer are dropped when memory runs out; the others need no
    # more memory than the author's kernel.
    for names in ((), demanding[-1:]):
        try:
            return compile_without(names)
        except LoweringError as error:
            if not error.out_of_memory:
                raise
    return compile_without(demanding)
