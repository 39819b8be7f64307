"""Checks that indices computed on the device stay within their tensors."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.scf import ForOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from nkijit.dialects.access import Indirection
from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.declare.queries import skips_out_of_bounds
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import DynamicPart, ViewOp
from nkijit.dialects.rule_texts.access import INDEX_BOUNDS
from nkijit.dialects.tiles import is_tile
from nkijit.passes.analysis.flow.ranges import Range, Ranges
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic


def check_indices(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a finding for each access whose index is out of bounds in some execution.

    Covers registers and induction variables; the contents of index tiles are unknown.
    """
    ranges = Ranges(kernel)
    for view in kernel.operations:
        # Most views have static addresses, and xDSL's own access to an absent operand is slow.
        if type(view) is not ViewOp or len(operand_tuple(view)) < 2:
            continue
        part = view.dynamic
        if part is None or part.indirection is not Indirection.scalar or is_tile(part.index):
            continue
        for use in view.result.uses:
            if is_instruction(use.operation) and not skips_out_of_bounds(use.operation):
                yield from _finding(ranges, use.operation, view.result, part)


def _finding(ranges: Ranges, op: NisaOp, view: SSAValue, part: DynamicPart) -> Iterator[Diagnostic]:
    known = ranges.range_of(part.index, op)
    if known is None:
        return
    never_right = known.low >= part.bound or known.high < 0
    always_runs = ranges.always_runs(op)
    sometimes_wrong = known.exact and always_runs and not 0 <= known.low <= known.high < part.bound
    if not never_right and not sometimes_wrong:
        return
    name = next(f.name for f, value in op.given_operands() if value is view)
    message = f"the index of '{name}' {_shown(known)}, legal are 0 to {part.bound - 1}"
    if not always_runs:
        message += ", whenever the instruction runs"
    yield diagnose(
        INDEX_BOUNDS,
        op,
        message,
        [(name, view)],
        related=[(loop, "the index counts here") for loop in _loop_of(part.index)],
        severity=None if always_runs else "warning",
    )


def _shown(known: Range) -> str:
    if known.low == known.high:
        return f"is {known.low}"
    return f"goes from {known.low} to {known.high}"


def _loop_of(index: SSAValue) -> list[Operation]:
    if not isinstance(index, BlockArgument):
        return []
    loop = index.block.parent_op()
    return [loop] if isinstance(loop, ForOp) else []
