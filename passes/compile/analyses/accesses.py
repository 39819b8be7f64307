"""What the operations of a kernel do with each of its tensors, in the order of the program."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.effects import Effect, effects
from nkijit.dialects.nki.allocation import DECLARATIONS, AllocOp
from nkijit.dialects.nki.kernel import NoReorderOp
from nkijit.dialects.nki.views import base_of, index_of
from nkijit.dialects.reach import fills
from nkijit.dialects.tiles import TileInfo, info_of


@dataclass(slots=True)
class Access:
    """What one operation does with a tensor."""

    op: Operation
    place: int
    """Its place in the program."""
    effects: list[Effect]
    """Those on the tensor."""
    reads: bool
    """Something of what the tensor holds is used, or left as it is."""
    writes: bool
    """Something of the tensor is written."""


Accesses = dict[SSAValue, list[Access]]
"""The accesses to each tensor, in the order of the program."""


def overwrites(effect: Effect) -> bool:
    """Whether all elements of a tile are written, and none is read."""
    known = info_of(effect.value).indirection is None
    return effect.role is Role.write and not effect.partial and known


def accesses_of(operations: Iterable[Operation]) -> Accesses:
    """The accesses of operations in the order of the program."""
    found: Accesses = {}
    known: dict[int, list[Access]] = {}  # by identity, as hashing a value is a call
    for place, op in enumerate(operations):
        if type(op) in DECLARATIONS:
            continue  # half of all operations
        for effect in effects(op):
            role = effect.role
            reads = role is not Role.write or not overwrites(effect)
            base = base_of(effect.value)
            accesses = known.get(id(base))
            if accesses is None:
                accesses = found[base] = known[id(base)] = []
            elif accesses[-1].place == place:
                same = accesses[-1]
                same.effects.append(effect)
                same.reads = same.reads or reads
                same.writes = same.writes or role is not Role.read
                continue
            accesses.append(Access(op, place, [effect], reads, role is not Role.read))
    return found


def between(touched: list[Access], first: int, last: int) -> list[Access]:
    """The accesses to a tensor behind one place in the program, up to another one."""
    start = bisect_right(touched, first, key=attrgetter("place"))
    return touched[start : bisect_right(touched, last, key=attrgetter("place"))]


def is_free(op: Operation | None) -> bool:
    """Whether an instruction may be changed or go: the author has said nothing about it."""
    if op is None or not is_instruction(op):
        return False
    named = "name" in op.properties or "after" in op.properties
    return not named and type(op.parent_op()) is not NoReorderOp


def is_own(base: SSAValue) -> bool:
    """Whether a tensor is an on-chip tile for which nkijit chooses the address."""
    owner = base.owner
    return (
        isinstance(owner, AllocOp) and info_of(base).region.on_chip and owner.fixed_address is None
    )


def fills_tile(value: SSAValue) -> bool:
    """Whether a value is all of its tensor, or a view of all of it."""
    return fills(info_of(base_of(value)), info_of(value))


def elements_of(value: SSAValue) -> TileInfo | None:
    """Equal for tiles of one tensor that are the same elements; None if that is not known."""
    return info_of(value) if index_of(value) is None else None


def replace_tile(op: NisaOp, old: SSAValue, new: SSAValue) -> None:
    """Let an instruction use another tile in all places of one."""
    for number, value in enumerate(op.operands):
        if value is old:
            op.operands[number] = new
