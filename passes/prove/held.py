"""Float32 tiles that hold elements of a narrower data type: all that is written is copied from it.

Rounding such an element to the narrower type gives the element again.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.dtypes import DType
from nkijit.dialects.effects import role_of
from nkijit.dialects.nisa.movement import DmaCopyOp, TensorCopyOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import uses_of, views_of
from nkijit.dialects.tiles import info_of


def held_type(base: SSAValue) -> DType | None:
    """Return the data type that all writes of a tensor copy from; None if there is none."""
    own = info_of(base)
    if type(base.owner) is not AllocOp or own.dtype.name != "float32" or not own.region.on_chip:
        return None
    found: set[DType] = set()
    for use in (use for value in (base, *views_of(base)) for use in uses_of(value)):
        if role_of(use) in (None, Role.read):
            continue
        op = use.operation
        if not isinstance(op, (DmaCopyOp, TensorCopyOp)) or info_of(op.dst).dtype is not own.dtype:
            return None
        found.add(info_of(op.src).dtype)
    return found.pop() if len(found) == 1 else None
