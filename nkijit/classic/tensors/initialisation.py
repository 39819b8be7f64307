"""`lazy_initialization=True`: initial values are written at the first use, if at all.

A tile is filled where it is allocated. After tracing, the fill moves to directly before the first
instruction that uses the tile. It is removed when all of the tile is overwritten before the first
read. Results do not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.effects import effects
from nkijit.dialects.nisa.matmul import NcMatmulOp
from nkijit.dialects.nisa.movement import MemsetOp
from nkijit.dialects.nki.views import ViewOp, base_of, index_of, reach_of, views_of
from nkijit.passes.analysis.bytes.footprints import Cells, extent_of


def settle(fills: Sequence[MemsetOp]) -> None:
    """Move the fills of whole tiles to the first use, and remove fills that are never read."""
    numbers: dict[Block, dict[Operation, int]] = {}
    for fill in fills:
        block = fill.parent
        if block is None:  # removed: a matmul overwrites the tile
            continue
        if block not in numbers:
            numbers[block] = {op: number for number, op in enumerate(block.ops)}
        number = numbers[block]
        users = {block.find_ancestor_op_in_block(op) for op in _users(fill.dst)} - {fill, None}
        ordered = sorted((op for op in users if op is not None), key=number.__getitem__)
        if not ordered or _is_overwritten(fill.dst, ordered):
            fill.detach()
            fill.erase()
        elif number[ordered[0]] > number[fill]:
            fill.detach()
            block.insert_op_before(fill, ordered[0])


def _users(base: SSAValue) -> Iterator[Operation]:
    for value in (base, *views_of(base)):
        for use in value.uses:
            if not isinstance(use.operation, ViewOp):
                yield use.operation


def _is_overwritten(base: SSAValue, users: Sequence[Operation]) -> bool:
    """Return True when operations overwrite a whole tile before any operation reads it."""
    reach = reach_of(base)
    cells = Cells(reach, [extent_of(value, reach) for value in (base, *views_of(base))])
    written = np.zeros(cells.count, np.bool_)
    for op in users:
        if not cells.exact or not is_instruction(op):
            return False
        if isinstance(op, NcMatmulOp) and op.value_of("accumulate") is not False:
            return False
        for effect in effects(op):
            if base_of(effect.value) is not base:
                continue
            if effect.role is not Role.write or effect.partial or index_of(effect.value):
                return False
            cells.footprint(extent_of(effect.value, reach)).part(written)[...] = True
        if written.all():
            return True
    return False
