"""Changes the dtype of tensors in a copy of a kernel.

Some tensors must change together: the inputs of a matmul, and the operands of an instruction that
copies bits without conversion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.declare.queries import is_transpose
from nkijit.dialects.dtypes import DType
from nkijit.dialects.nisa.matmul import NcMatmulOp
from nkijit.dialects.nisa.movement import DmaCopyOp, TensorCopyOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import ViewOp, base_of
from nkijit.dialects.tiles import allocation_type, info_of
from nkijit.passes.advise.edit import NotPossibleError
from nkijit.passes.advise.facts import Access, Facts


def tied(
    facts: Facts, starts: Iterable[SSAValue], dtype: DType, *, narrower: bool
) -> list[SSAValue]:
    """Return the tensors that must change to a dtype together.

    The search ends at instructions that convert.

    Args:
        starts: the tensors to change.
        dtype: the new dtype.
        narrower: change only tiles that are filled from tensors of that dtype, and no arguments.

    Raises:
        NotPossibleError: a tensor must keep its dtype.
    """
    found: dict[SSAValue, None] = {}
    left = list(starts)
    while left:
        base = left.pop()
        if base in found or info_of(base).dtype is dtype:
            continue
        accesses = facts.accesses.get(base, [])
        _check(base, accesses, narrower=narrower)
        found[base] = None
        for access in accesses:
            left += _tied_by(access, dtype, narrower=narrower)
    return list(found)


def _check(base: SSAValue, accesses: Iterable[Access], *, narrower: bool) -> None:
    on_chip = info_of(base).region.on_chip
    if on_chip:
        if not isinstance(base.owner, AllocOp):
            raise NotPossibleError
        return
    # Only arguments that are just read can change: returned tensors keep their dtype.
    is_read = all(access.role is Role.read for access in accesses)
    if narrower or not is_read or isinstance(base.owner, Operation):
        raise NotPossibleError


def _tied_by(access: Access, dtype: DType, *, narrower: bool) -> Iterator[SSAValue]:
    """Yield the tensors that must change with an accessed tensor."""
    op = access.op
    if not is_instruction(op):
        raise NotPossibleError
    if isinstance(op, NcMatmulOp) and not is_transpose(op):
        if access.role is not Role.read:
            raise NotPossibleError  # PSUM adds up in float32
        yield base_of(op.stationary)
        yield base_of(op.moving)
    elif isinstance(op, DmaCopyOp) or is_transpose(op):
        yield from _others(op, access, dtype, narrower=narrower)
    elif narrower and access.role is not Role.read and not _is_cast(op, dtype):
        raise NotPossibleError


def _others(op: NisaOp, access: Access, dtype: DType, *, narrower: bool) -> Iterator[SSAValue]:
    """Yield the other tensors of an instruction that copies bits without conversion."""
    for value in op.operands:
        if info_of(value).dtype is info_of(access.value).dtype:
            yield base_of(value)
        elif info_of(value).dtype is not dtype:
            raise NotPossibleError


def _is_cast(op: NisaOp, dtype: DType) -> bool:
    return isinstance(op, TensorCopyOp) and info_of(op.src).dtype is dtype


def retype(base: SSAValue, dtype: DType) -> None:
    """Give an allocation or argument, and its views, another dtype."""
    info = info_of(base)
    views = [use.operation for use in base.uses if isinstance(use.operation, ViewOp)]
    if any(info_of(view.result).dtype is not info.dtype for view in views):
        raise NotPossibleError
    retyped = Rewriter.replace_value_with_new_type(
        base, allocation_type(dtype, info.shape, info.region)
    )
    for view in views:
        if view.source is not retyped:
            continue
        other = ViewOp.of(retyped, view.access, dtype, view.dynamic, view.location)
        other.result.name_hint = view.result.name_hint
        Rewriter.replace_op(view, other)
