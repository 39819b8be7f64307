"""The lowering passes: from verified kernels to scheduled programs, one step each.

`LOWERING` is the pipeline. Each pass skips work that has been done, so a file can enter anywhere:
`nkijit-opt -p lower-to-engines,schedule` continues from the output of `-p allocate`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i64
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from nkijit.dialects.engine.program import ProgramOp, programs_of
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.passes.analysis.flow.edge_order import put_in_order
from nkijit.passes.lower.engines import lower_to_engines
from nkijit.passes.lower.from_ir import from_ir
from nkijit.passes.lower.placement import allocate
from nkijit.passes.lower.program import LoweringError, Program
from nkijit.passes.lower.schedule import lower, schedule
from nkijit.passes.lower.to_ir import to_ir


@dataclass(frozen=True)
class AllocatePass(ModulePass):
    """Fix the address of every on-chip allocation that is accessed.

    Addresses are valid for one order of the instructions. So an instruction that waits for a later
    instruction (`after=`) is first moved after that instruction.
    """

    name = "allocate"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            put_in_order(kernel)
            for alloc, address in allocate(kernel).addresses.items():
                alloc.properties["address"] = DenseArrayBase.from_list(i64, address)


@dataclass(frozen=True)
class LowerToEnginesPass(ModulePass):
    """Lower every kernel to queues of engine instructions with dependences."""

    name = "lower-to-engines"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            put_in_order(kernel)
            _replace(kernel, to_ir(lower_to_engines(kernel)))


@dataclass(frozen=True)
class SchedulePass(ModulePass):
    """Order the queues, and replace dependences by the fewest semaphore waits."""

    name = "schedule"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            raise LoweringError(
                f"@{kernel.sym_name.data} is not lowered: {LowerToEnginesPass.name} comes first"
            )
        for program in programs_of(op):
            if program.scheduled is None:
                _replace(program, to_ir(scheduled(program)))


class PipelineStep(NamedTuple):
    """A step of the lowering pipeline: a pass, with the reason for its position."""

    lowering: type[ModulePass]
    reason: str
    """The reason for the position of the pass in the pipeline."""


LOWERING: tuple[PipelineStep, ...] = (
    PipelineStep(
        AllocatePass, "tiles that share bytes must wait, so addresses come before dependences"
    ),
    PipelineStep(LowerToEnginesPass, "queues and stages decide which dependences need a semaphore"),
    PipelineStep(
        SchedulePass, "the order is chosen among those that dependences allow, so it comes last"
    ),
)
"""The lowering pipeline, in order."""


def run_lowering(module: ModuleOp, stop_after: str | None = None) -> Iterator[str]:
    """Lower the verified kernels of a module in place; yields the name of each pass after its run.

    Args:
        module: kernels, or partially lowered programs.
        stop_after: the name of the last pass to run; all of them by default.

    Raises:
        ValueError: `stop_after` is not a pass of the pipeline.
        LoweringError: a kernel uses something that is not modelled.
    """
    names = [step.lowering.name for step in LOWERING]
    if stop_after is not None and stop_after not in names:
        raise ValueError(f"lowering has no pass '{stop_after}'; it has {', '.join(names)}")
    for step in LOWERING:
        step.lowering().apply(Context(), module)
        yield step.lowering.name
        if step.lowering.name == stop_after:
            return


def scheduled(op: ProgramOp) -> Program:
    """Convert a program's IR to a lowered program, with waits and signals added if missing."""
    program = from_ir(op)
    return program if program.scheduled else schedule(program)


def lowered(module: Operation) -> Sequence[Program]:
    """Convert every kernel and every program of a module to a scheduled program, in order."""
    return [
        lower(op) if isinstance(op, KernelOp) else scheduled(op)
        for op in module.walk()
        if isinstance(op, (KernelOp, ProgramOp))
    ]


def _replace(old: Operation, new: Operation) -> None:
    if new is not old:
        Rewriter.insert_op(new, InsertPoint.before(old))
        old.detach()
        old.erase()
