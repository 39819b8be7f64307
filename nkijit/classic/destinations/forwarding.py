"""Makes instructions write directly to the target of an assignment, as in `t[k] = nisa.f(x)`.

Functions of the classic API return a tile. If it is immediately assigned to a part of another tile,
the instructions that compute it write there instead, and the temporary tile is removed, as in the
vendor's compiler. Where this would change a number, a copy remains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

from xdsl.ir import Block, Operation, SSAValue

from nkijit.classic.indexing.boxes import TileBox
from nkijit.dialects.access import AccessPattern
from nkijit.dialects.declare.kinds import OperandKind
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.declare.queries import engine_of, rules_of
from nkijit.dialects.hardware.targets import COMPUTE_ENGINES, start_partitions
from nkijit.dialects.nisa.universal_rules import cannot_walk
from nkijit.dialects.nki.allocation import DECLARATIONS, AllocOp
from nkijit.dialects.nki.views import ViewOp, access_of, base_of, index_of, views_of
from nkijit.dialects.tiles import TileInfo, info_of, is_tile
from nkijit.tracing.locations import Sites
from nkijit.tracing.tensor import NkiTensor, first_partition
from nkijit.tracing.tracer import Tracer

Mark = tuple[Block, Operation | None]
"""A point of the trace: the open block, and its last operation at that time (`Tracer.mark`)."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """The result of one call: a tile that the call allocated, and the instructions that fill it."""

    alloc: AllocOp
    ops: tuple[NisaOp, ...]
    """The instructions, in order."""
    exact: bool
    """Whether the computation is in float32, so that a float32 tile stores it without rounding."""
    made: Sites = ()
    """The user's calls that created the result; empty if user code never sees the result."""


def instructions_since(tracer: Tracer, mark: Mark) -> list[NisaOp] | None:
    """Return the instructions emitted since a mark (a point of the trace).

    None if the open block has changed, or if the operations include more than instructions and
    declarations.
    """
    block, last = mark
    if tracer.mark()[0] is not block:
        return None
    op = block.first_op if last is None else last.next_op
    found: list[NisaOp] = []
    while op is not None:
        if is_instruction(op):
            found.append(op)
        elif not isinstance(op, DECLARATIONS):
            return None
        op = op.next_op
    return found


def forward(tracer: Tracer, fresh: Fresh, target: Callable[[TileBox], NkiTensor]) -> bool:
    """Make instructions write to the target of an assignment; return False if they cannot.

    Args:
        tracer: the tracer of the kernel.
        fresh: the instructions, and the tile that they have written so far.
        target: returns the part of the target to which a block of the written tile is assigned.
    """
    if not fresh.ops or not _are_last(fresh, tracer.mark()[1]):
        return False
    whole = info_of(fresh.alloc.result)
    shape = whole.shape
    boxes: dict[SSAValue, TileBox] = {}
    for value in _values_of(fresh.alloc):
        if value is fresh.alloc.result:
            boxes[value] = TileBox.whole(shape)
            continue
        box = _box_of(access_of(value), shape)
        if box is None or info_of(value).dtype != whole.dtype:
            return False
        boxes[value] = box
    parts = {value: target(box) for value, box in boxes.items()}
    on_engines = any(not COMPUTE_ENGINES.isdisjoint(op.SPEC.engines) for op in fresh.ops)
    for part in parts.values():
        if part.is_indirect() or not _may_write(fresh, part, whole):
            return False
        begins = first_partition(part) in start_partitions(part.shape[0])
        if on_engines and part.buffer.on_chip and not (begins and walkable(part)):
            return False
    values = {value: part.ssa_value() for value, part in parts.items()}
    apart = all(_is_apart(fresh, value) for value in values.values())
    same_kind = all(
        part.buffer is whole.region and part.dtype == whole.dtype.name for part in parts.values()
    )
    if not apart or not (same_kind or all(_may_move(tracer, op, values) for op in fresh.ops)):
        return False  # the views are not removed, because a copy uses them
    _declare_above(fresh.ops[0], values.values())
    for old, new in values.items():
        old.replace_all_uses_with(new)
        new.name_hint = new.name_hint or old.name_hint
    tracer.remove(fresh.alloc)
    for old in values:
        if isinstance(old.owner, ViewOp):
            tracer.remove(old.owner)
    return True


def _declare_above(place: Operation, values: Iterable[SSAValue]) -> None:
    """Move the declarations of `values` before the instruction `place` if they follow it."""
    needed = {owner for value in values for owner in (base_of(value).owner, value.owner)}
    block, op = place.parent, place.next_op
    assert block is not None
    while op is not None:
        following = op.next_op
        if op in needed:
            op.detach()
            block.insert_op_before(op, place)
        op = following


def walkable(view: NkiTensor) -> bool:
    """Return False for a view in SBUF or PSUM with more dimensions than an engine walks."""
    target = view.storage.tracer.target
    if view.ndim <= target.max_access_dims or not view.buffer.on_chip or view.is_indirect():
        return True
    return cannot_walk(AccessPattern(view.offset, view.strides, view.shape), target) is None


def _are_last(fresh: Fresh, last: Operation | None) -> bool:
    while isinstance(last, DECLARATIONS):
        last = last.prev_op
    return last is fresh.ops[-1]


def _values_of(alloc: AllocOp) -> list[SSAValue]:
    """Return the views of an allocation, and the allocation itself if instructions use it."""
    values = views_of(alloc.result)
    if len(values) < alloc.result.uses.get_length():
        values.append(alloc.result)
    return values


def _box_of(access: AccessPattern, shape: tuple[int, ...]) -> TileBox | None:
    """Return the block of an allocation that a view selects; None if it selects no block."""
    whole = AccessPattern.contiguous(shape)
    if access.ndim != len(shape):
        return None
    same = all(
        s == w or n == 1
        for s, w, n in zip(access.strides, whole.strides, access.shape, strict=True)
    )
    if not same:
        return None
    starts: list[int] = []
    rest = access.offset
    for stride in whole.strides:
        start, rest = divmod(rest, stride)
        starts.append(start)
    inside = all(a + n <= m for a, n, m in zip(starts, access.shape, shape, strict=True))
    return TileBox(tuple(starts), access.shape) if inside else None


def _may_write(fresh: Fresh, part: NkiTensor, tile: TileInfo) -> bool:
    """Return True when writing to `part` directly gives the same numbers as copying the tile."""
    if part.buffer.on_chip is not tile.region.on_chip:
        return False
    if part.dtype == tile.dtype.name:
        return True
    # Engines compute in float32: rounding once to the target is rounding the float32 tile.
    return tile.dtype.name == "float32" and fresh.exact and len(fresh.ops) == 1


def _is_apart(fresh: Fresh, part: SSAValue) -> bool:
    """Return True when the instructions would overwrite no element that they read in `part`.

    An instruction may overwrite an element that it reads in the same step.
    """
    base = base_of(part)
    for op in fresh.ops:
        for f, value in op.given_operands():
            if not is_tile(value) or base_of(value) is not base:
                continue
            if index_of(value) is not None:
                return False
            in_step = value is part and not cast(OperandKind, f.kind).any_order
            overlaps = in_step or info_of(value).overlaps(info_of(part))
            if overlaps and not (in_step and len(fresh.ops) == 1):
                return False
    return True


def _may_move(tracer: Tracer, op: NisaOp, values: dict[SSAValue, SSAValue]) -> bool:
    """Return True when an instruction with replaced operands breaks no rule.

    It must also run on the same engine as before. `values` maps old to new operands.
    """
    moved = op.clone(values)
    runs_on = engine_of(moved, tracer.target) is engine_of(op, tracer.target)
    allowed = runs_on and all(
        rule.check(moved, tracer.target) is None for rule in rules_of(type(op))
    )
    moved.erase()
    return allowed
