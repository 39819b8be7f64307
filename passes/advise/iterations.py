"""Several iterations of a loop side by side: their instructions by column, and their own tiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.operation import NisaOp, scalar_constant
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.advise.edit import NotPossibleError
from nkijit.passes.advise.facts import Facts
from nkijit.passes.advise.nests import Nest, flat, rearrange
from nkijit.passes.compile.passes.rename_tiles import rename_tiles

Rows = Sequence[Sequence[NisaOp]]
"""The instructions of each of several iterations."""


def are_uniform(nest: Nest) -> bool:
    """Whether iterations of a loop have equal lines, instruction types and numbers of operands."""
    first, *others = (
        [(type(op), op.location, len(op.operands)) for op in flat(i)] for i in nest.iterations
    )
    return all(other == first for other in others)


def in_step(groups: Sequence[Sequence[Sequence[int]]]) -> Iterator[int]:
    """Yield the instruction numbers of groups so that iterations of a group run in lockstep."""
    for group in groups:
        for column in zip(*group, strict=True):
            yield from column


def put_in_step(
    kernel: KernelOp,
    ops: Sequence[NisaOp],
    grouped: Sequence[Sequence[Sequence[Sequence[int]]]],
    *,
    renames: bool,
) -> Facts:
    """Reorder a kernel so that merged iterations run in lockstep; return its facts afterwards.

    Args:
        kernel: to change.
        ops: its instructions.
        grouped: the instruction numbers by loop, by group of merged iterations, and by iteration.
        renames: give tiles that iterations overwrite a tile of their own first.
    """
    if renames:
        used = (ops[n] for groups in grouped for group in groups for row in group for n in row)
        touched = {base_of(value).owner for op in used for value in op.operands}
        rename_tiles(kernel, only={b for b in touched if isinstance(b, Operation)})
    for groups in grouped:
        old = [n for group in groups for row in group for n in row]
        rearrange([ops[n] for n in old], [n - old[0] for n in in_step(groups)])
    return Facts(kernel)


def operands(column: Sequence[NisaOp]) -> Iterator[Sequence[SSAValue]]:
    """Yield, for each operand position, the operands of a column's instructions."""
    if len({len(op.operands) for op in column}) > 1:
        raise NotPossibleError
    yield from zip(*(op.operands for op in column), strict=True)


def are_equal(values: Sequence[SSAValue]) -> bool:
    first = scalar_constant(values[0])
    return all(
        value is values[0] or (first is not None and scalar_constant(value) == first)
        for value in values
    )


def own_tiles(facts: Facts, rows: Rows) -> dict[SSAValue, tuple[SSAValue, ...]]:
    """Return the tiles used in one iteration only, keyed by the first iteration's tile."""
    iteration: dict[Operation, int] = {op: number for number, row in enumerate(rows) for op in row}
    found: dict[SSAValue, tuple[SSAValue, ...]] = {}
    wrong: set[SSAValue] = set()
    for column in zip(*rows, strict=True):
        for values in operands(column):
            if not all(is_tile(value) for value in values):
                continue
            bases = tuple(base_of(value) for value in values)
            if found.setdefault(bases[0], bases) != bases or not _are_own(bases, facts, iteration):
                wrong.add(bases[0])
    return {first: bases for first, bases in found.items() if first not in wrong}


def _are_own(bases: Sequence[SSAValue], facts: Facts, iteration: dict[Operation, int]) -> bool:
    info = info_of(bases[0])
    return info.region.on_chip and all(
        isinstance(base.owner, AllocOp)
        and base.owner.fixed_address is None
        and info_of(base) == info
        and all(iteration.get(a.op) == number for a in facts.accesses[base])
        for number, base in enumerate(bases)
    )
