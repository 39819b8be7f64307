"""The compiler: its passes, in order, and a kernel that has been through them."""

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
    """Changes kernels that have been verified; their results stay the same, bit by bit."""

    needs_room: ClassVar[bool] = False
    """Tiles are in use for longer than they were."""

    def change(self, analyses: Analyses, origins: Origins) -> int:
        """Change a kernel in place; returns how much.

        Args:
            analyses: what is known of the kernel; what that is no more is forgotten.
            origins: the operation that each of its operations is a copy of; gets those of new ones.
        """
        raise NotImplementedError

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            put_in_order(kernel)
            self.change(Analyses(kernel), {})


class ResolveAccumulationPass(CompilerPass):
    """Let matmuls say whether they add, where that followed from their place."""

    name = "resolve-accumulation"

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return resolve_accumulation(analyses.kernel, analyses)


class RenameTilesPass(CompilerPass):
    """Make another tile of one whose contents nobody needs any more."""

    name = "rename-tiles"

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return rename_tiles(analyses.kernel, origins, analyses=analyses)


class HoistInvariantPass(CompilerPass):
    """Do before loops what they do each time alike."""

    name = "hoist-invariant"
    needs_room = True

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return hoist_invariant(analyses.kernel, analyses)


class AccumulateInPsumPass(CompilerPass):
    """Let matmuls add up in PSUM what is added up outside of it."""

    name = "accumulate-in-psum"
    needs_room = True

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return accumulate_in_psum(analyses.kernel, origins, analyses)


class ShareLoadsPass(CompilerPass):
    """Leave out loads of what is on chip."""

    name = "share-loads"
    needs_room = True

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return share_loads(analyses.kernel, analyses)


class ShareResultsPass(CompilerPass):
    """Leave out what has been computed before, from the same contents."""

    name = "share-results"
    needs_room = True

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return share_results(analyses.kernel, analyses)


class ForwardCopiesPass(CompilerPass):
    """Let those who read a copy read what it is a copy of."""

    name = "forward-copies"
    needs_room = True

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return forward_copies(analyses.kernel, origins, analyses)


class RemoveUnusedPass(CompilerPass):
    """Remove instructions whose results nothing reads."""

    name = "remove-unused"

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return remove_unused(analyses.kernel, analyses)


class SpreadEnginesPass(CompilerPass):
    """Let instructions whose engine is open run where there is time for them."""

    name = "spread-engines"

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return spread_engines(analyses.kernel, analyses)


class FitPass(CompilerPass):
    """Let tiles wait in HBM that do not fit into SBUF."""

    name = "fit"

    def change(self, analyses: Analyses, origins: Origins) -> int:
        return fit(analyses.kernel, origins, analyses=analyses)


class ListSchedulePass(CompilerPass):
    """Order instructions as engines could begin them."""

    name = "list-schedule"
    needs_room = True

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
"""The passes in the order in which they run: tiles have one use each before any is unused, and what
is left is ordered."""


ORDERING = frozenset({SpreadEnginesPass.name, ListSchedulePass.name})
"""The passes that say what runs when, and where."""


@dataclass(frozen=True)
class Compiled:
    """A kernel as a compiler would have it."""

    kernel: KernelOp
    """A changed copy."""
    origins: Mapping[Operation, Operation]
    """The operation that each of its operations is a copy of."""
    changes: Mapping[str, int]
    """How much each pass has changed, by its name."""

    @property
    def is_changed(self) -> bool:
        """Whether it runs other instructions than the kernel, on other tiles, or elsewhere."""
        return any(self.changes.values())


def compiled(kernel: KernelOp, without: Collection[str] = ()) -> Compiled:
    """A copy of a verified kernel that the passes have changed.

    Args:
        kernel: it stays as it is.
        without: the names of passes that are left out.
    """
    copy, origins = with_edges_in_order(kernel)
    if copy is kernel:
        copy, origins = copied(kernel)
    analyses = Analyses(copy)
    changes = {
        made.name: made().change(analyses, origins) for made in COMPILER if made.name not in without
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
    """The queues of one core, of a kernel as its author or as the compiler has it; see `lower`.

    A kernel whose tiles do not fit into SBUF as its author has them is compiled in any case.

    Args:
        kernel: a verified kernel.
        schedule: whose order it is.
        target: see `lower`.
        passed_over: see `lower`.
        without: the names of the compiler's passes that are left out.
        own: the queues that its author has for it, where they are known: a kernel that the
            compiler leaves as it is has the same ones.
    """
    if schedule is Schedule.author:
        lenient = passed_over is not None and not passed_over.does_not_fit
        try:
            if not (lenient and does_not_fit(kernel)):
                return lower(kernel, target, passed_over=passed_over)
        except LoweringError as error:
            if not (error.no_room and does_not_fit(kernel)):
                raise
    greedy = [made.name for made in COMPILER if made.needs_room]

    def made_without(names: Collection[str]) -> Program:
        made = compiled(kernel, {*without, *names})
        if own is not None and not made.is_changed:
            return replace(own, changes=made.changes)
        program = lower(made.kernel, target, passed_over=passed_over, origins=made.origins)
        return replace(program, changes=made.changes)

    # Where a pass needs more memory than there is: what else has changed needs no more.
    for names in ((), greedy[-1:]):
        try:
            return made_without(names)
        except LoweringError as error:
            if not error.no_room:
                raise
    return made_without(greedy)
