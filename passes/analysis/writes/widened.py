"""Tiles that hold only values of a narrower floating-point type."""

from __future__ import annotations

from xdsl.ir import SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.declare.queries import is_transpose
from nkijit.dialects.dtypes import DType, Kind
from nkijit.dialects.effects import effects
from nkijit.dialects.nisa.movement import DmaCopyOp, TensorCopyOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of


def narrow_sources(kernel: KernelOp) -> dict[SSAValue, DType]:
    """Map each tile that holds only values of a narrower data type to this type.

    Such a tile is filled only by copies and transposes that widen, or that read such a tile.
    """
    found: dict[SSAValue, DType | None] = {}
    for op in kernel.operations:
        for effect in effects(op):
            if effect.role is Role.read:
                continue
            base = base_of(effect.value)
            if not isinstance(base.owner, AllocOp):
                continue
            source = None
            if is_instruction(op) and effect.role is Role.write:
                read = [v.value for v in effects(op) if v.role is Role.read]
                if isinstance(op, (DmaCopyOp, TensorCopyOp)) or is_transpose(op):
                    source = _narrow(read[0], effect.value, found)
            found[base] = source if found.get(base, source) is source else None
    return {base: dtype for base, dtype in found.items() if dtype is not None}


def _narrow(src: SSAValue, dst: SSAValue, found: dict[SSAValue, DType | None]) -> DType | None:
    """Return the narrower data type of the values that a copy writes to `dst`, or None.

    Either the copy widens `src`, or `found` has a narrower type for the values of `src`.
    """
    read, written = info_of(src).dtype, info_of(dst).dtype
    if written.kind is not Kind.float or read.kind is not Kind.float:
        return None
    return read if read.bits < written.bits else found.get(base_of(src))
