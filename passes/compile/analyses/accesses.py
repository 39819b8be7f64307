"""The accesses to each tensor of a kernel, in program order, and predicates that passes share."""

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
    """All effects of one operation on one tensor."""

    op: Operation
    place: int
    """The operation's index in program order."""
    effects: list[Effect]
    """The operation's effects on the tensor."""
    reads: bool
    """True if the operation uses earlier contents of the tensor, or writes only part of a tile."""
    writes: bool
    """True if the operation writes at least a part of the tensor."""


Accesses = dict[SSAValue, list[Access]]
"""The accesses to each tensor, in program order."""


def overwrites(effect: Effect) -> bool:
    """Whether an effect writes all elements of its tile without reading them."""
    known = info_of(effect.value).indirection is None
    return effect.role is Role.write and not effect.partial and known


def accesses_of(operations: Iterable[Operation]) -> Accesses:
    """Collect the accesses to each tensor; `operations` are in program order."""
    found: Accesses = {}
    known: dict[int, list[Access]] = {}  # by identity: hashing a value costs a call
    for place, op in enumerate(operations):
        if type(op) in DECLARATIONS:
            continue  # a fast path: half of all operations
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
    """Return the accesses to a tensor after program position `first`, up to `last` inclusive."""
    start = bisect_right(touched, first, key=attrgetter("place"))
    return touched[start : bisect_right(touched, last, key=attrgetter("place"))]


def is_free(op: Operation | None) -> bool:
    """Whether a pass may change or remove an operation.

    True for instructions without a name, without `after`, and outside `nl.no_reorder`.
    """
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
    """Whether a tile covers the whole tensor that it is a view of."""
    return fills(info_of(base_of(value)), info_of(value))


def elements_of(value: SSAValue) -> TileInfo | None:
    """Return a key of the elements that a tile covers in its tensor; None if it has an index."""
    return info_of(value) if index_of(value) is None else None


def replace_tile(op: NisaOp, old: SSAValue, new: SSAValue) -> None:
    """Replace each operand `old` of an instruction by `new`."""
    for number, value in enumerate(op.operands):
        if value is old:
            op.operands[number] = new
