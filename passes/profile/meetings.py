"""Meetings: instructions at which cores wait for each other until all have arrived."""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nisa.cores import SendrecvOp
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.lower.program import EngineInstruction

MEETING_OPS = frozenset(WAITING)
"""The classes of instructions at which cores wait for each other."""


def meeting_of(head: EngineInstruction) -> Hashable:
    """Return a key of an instruction at which cores wait for each other, equal on all cores."""
    op = cast(NisaOp, head.op)
    if isinstance(op, SendrecvOp):
        return op.name, op.value_of("pipe_id")
    tiles = tuple(str(info_of(value)) for value in op.operands if is_tile(value))
    return op.name, tiles
