"""What an operation of a kernel reads and writes: asked by every pass that follows data."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare import NisaOp
from nkijit.dialects.fields import OperandKind, Role
from nkijit.dialects.nki import DevicePrintOp, ReturnOp
from nkijit.dialects.tiles import is_tile
from nkijit.dialects.views import index_of


def reads_and_writes(op: Operation) -> Iterable[tuple[SSAValue, Role]]:
    """The tiles that an operation touches, with what it does to them.

    Index tiles come first: they say where the others are.
    """
    touched = list(_operands(op))
    for value, _ in touched:
        index = index_of(value)
        if index is not None and is_tile(index):
            yield index, Role.read
    yield from touched


def _operands(op: Operation) -> Iterable[tuple[SSAValue, Role]]:
    if isinstance(op, NisaOp):
        for f, value in op.given_operands():
            if is_tile(value) and isinstance(f.kind, OperandKind):
                yield value, f.kind.role
    elif isinstance(op, DevicePrintOp):
        yield op.tensor, Role.read
    elif isinstance(op, ReturnOp):
        for value in op.values:
            yield value, Role.read
