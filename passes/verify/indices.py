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
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.analysis.flow.integers import IndexedAccess, indexed_accesses
from nkijit.passes.analysis.flow.ranges import Range, Ranges
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic


def check_indices(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a finding for each access whose index is out of bounds in some execution.

    Covers registers, induction variables, and tiles of indices whose integers are known.
    """
    ranges = Ranges(kernel)
    has_tiles = False
    for view in kernel.operations:
        # Most views have static addresses, and xDSL's own access to an absent operand is slow.
        if type(view) is not ViewOp or len(operand_tuple(view)) < 2:
            continue
        part = view.dynamic
        if part is None:
            continue
        if is_tile(part.index):
            has_tiles = True
            continue
        for use in view.result.uses:
            if is_instruction(use.operation) and not skips_out_of_bounds(use.operation):
                known = ranges.range_of(part.index, use.operation)
                if known is not None:
                    yield from _finding(ranges, known, use.operation, view.result, part)
    if has_tiles:
        yield from _of_tiles(kernel, ranges)


def _of_tiles(kernel: KernelOp, ranges: Ranges) -> Iterator[Diagnostic]:
    """Yield a finding for each access by a tile of indices of which some are out of bounds."""
    for access in indexed_accesses(kernel):
        if not skips_out_of_bounds(access.op):
            bounds = access.bounds
            attained = bounds.attained and _uses_all(access)
            known = Range(bounds.low, bounds.high, attained)
            yield from _finding(ranges, known, access.op, access.view, access.part)


def _uses_all(access: IndexedAccess) -> bool:
    """Whether an access uses all elements of its tile of indices."""
    count = info_of(access.part.index).size
    if access.part.indirection is Indirection.vector:
        return count == info_of(access.view).partitions
    return access.part.indirection is Indirection.scalar and count == 1


def _finding(
    ranges: Ranges, known: Range, op: NisaOp, view: SSAValue, part: DynamicPart
) -> Iterator[Diagnostic]:
    never_right = known.low >= part.bound or known.high < 0
    always_runs = ranges.always_runs(op)
    sometimes_wrong = known.exact and always_runs and not 0 <= known.low <= known.high < part.bound
    if not never_right and not sometimes_wrong:
        return
    name = next(f.name for f, value in op.given_operands() if value is view)
    message = f"{_shown(known, part, name)}, legal are 0 to {part.bound - 1}"
    if not always_runs:
        message += ", whenever the instruction runs"
    yield diagnose(
        INDEX_BOUNDS,
        op,
        message,
        [(name, view)],
        related=[(loop, "the index counts here") for loop in _loop_of(part.index)],
        help=_OF_TILE if is_tile(part.index) else None,
        severity=None if always_runs else "warning",
    )


_OF_TILE = "write indices within the tensor, or pass oob_mode=nisa.oob_mode.skip"


def _shown(known: Range, part: DynamicPart, name: str) -> str:
    subject, be, go = ("indices", "are", "go") if is_tile(part.index) else ("index", "is", "goes")
    if known.low == known.high:
        return f"the {subject} of '{name}' {be} {known.low}"
    return f"the {subject} of '{name}' {go} from {known.low} to {known.high}"


def _loop_of(index: SSAValue) -> list[Operation]:
    if not isinstance(index, BlockArgument):
        return []
    loop = index.block.parent_op()
    return [loop] if isinstance(loop, ForOp) else []
