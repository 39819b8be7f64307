"""Assignments to parts of tensors, and `+=`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from nkijit import isa
from nkijit.classic.calls.calls import begins_legally, in_pieces, readable
from nkijit.classic.destinations.forwarding import forward
from nkijit.classic.indexing.boxes import TileBox, broadcast
from nkijit.classic.indexing.expressions import Mask
from nkijit.classic.indexing.masked_regions import MaskedRegion
from nkijit.classic.indexing.predicates import select
from nkijit.classic.tensors.blocks import Blocks
from nkijit.classic.tensors.tensors import ClassicTensor, ClassicTile, as_tensor, mark_masked
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.declare.queries import is_transpose
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nisa.matmul import NcMatmulOp
from nkijit.dialects.nisa.movement import MemsetOp
from nkijit.dialects.nki.views import ViewOp, base_of, views_of
from nkijit.dialects.rule_texts.classic import STORE_SHAPE
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import info_of
from nkijit.language.broadcasting import broadcast_view
from nkijit.language.tiles import is_number, temporary
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


@dataclass(frozen=True, slots=True)
class Reduced:
    """The value of `nl.loop_reduce(…)`; `b[...] = nl.loop_reduce(…)` reduces into `b`."""

    tile: ClassicTensor
    compute: Callable[..., ClassicTensor]
    begin: Callable[..., ClassicTensor]
    """A function that copies the masked part of `tile`, for the first iteration."""

    def onto(self, target: ClassicTensor) -> ClassicTensor:
        """Return the reduction of the target and the tile.

        If no instruction has accessed the target yet, this is a copy of the tile.
        """
        if target.buffer.on_chip and not _is_written(target):
            return self.begin(self.tile, dtype=target.dtype)
        return self.compute(target, self.tile, dtype=target.dtype)

    def __repr__(self) -> str:
        return "nl.loop_reduce(…), which is assigned to part of a tensor: b[...] = …"


def assign(target: ClassicTensor, value: Any, temporary_value: bool) -> None:
    """Assign a value to a tensor: `target[...] = value`.

    Args:
        target: the tensor, or a part of one.
        value: a tensor that broadcasts to the target, or a number.
        temporary_value: whether `value` has no other reference, so that the instructions that
            compute it may write to the target directly.
    """
    if isinstance(value, Reduced):
        value, temporary_value = value.onto(target), True
    if value is target:  # of `t += x`, which is computed already
        return
    if isinstance(target, Blocks):
        for at, tile in target.tiles():
            part = value
            if isinstance(value, ClassicTensor):
                part = value[at] if isinstance(value, Blocks) else value
            assign(tile, part, False)
        return
    if is_number(value) and not isinstance(value, (ClassicTensor, NkiTensor)):
        fill(target.whole(), value)
        return
    source = fitting(target, as_tensor("assignment", "value", value))
    computed = source.computed if isinstance(source, ClassicTile) else None
    if computed is not None:
        mark_masked(target)
    if temporary_value and isinstance(source, ClassicTile) and source.shape == target.shape:
        fresh, tracer = source.fresh, tracer_for("assignment")
        if fresh is not None and forward(tracer, fresh, target.part):
            return
    if _is_same_place(target, source):  # of `t[k] += x`, which is computed already
        return
    region = MaskedRegion(TileBox.whole(target.shape), ())
    if (
        isinstance(source, ClassicTile)
        and source.computed is not None
        and source.shape == target.shape
    ):
        region = source.computed
    _copy_region(target, source, region)


def _is_same_place(one: ClassicTensor, other: ClassicTensor) -> bool:
    """Return True when both tensors are the same view of the same allocation."""
    if isinstance(other, Blocks) or one.shape != other.shape:
        return False
    value, place = other.whole(), one.whole()
    if value.storage is not place.storage:
        return False
    if 0 in place.shape:  # not in the IR
        return value.offset == place.offset
    return value.ssa_value() is place.ssa_value()


def _copy_region(target: ClassicTensor, source: ClassicTensor, region: MaskedRegion) -> None:
    """Copy the elements inside a masked region from the source to the target.

    An engine copies all of them at once, with a predicate. If no engine can access the target, each
    block of the masked region is copied separately.
    """
    if region.box is not None and region.rest and target.buffer.on_chip:
        part = target.part(region.box)
        if begins_legally(part):
            _merge(part, part_for(region.box, target, source), region)
            return
    for box in region.boxes():
        copy(target.part(box), part_for(box, target, source))


def _merge(dst: NkiTensor, src: NkiTensor, region: MaskedRegion) -> None:
    """Copy the elements of a region of any shape, with a predicate from `nisa.affine_select`."""
    assert region.box is not None
    predicate = temporary("predicate", region.box.sizes, "uint8")
    isa.memset(predicate, 1)
    select(predicate, Mask(region.rest).part(region.box), predicate, 0.0)
    if src.shape != dst.shape:
        src = _broadcast(src, dst.shape)
    if src.dtype != dst.dtype:
        converted = temporary(f"{src.name}_converted", src.shape, dst.dtype)
        isa.tensor_copy(converted, src)
        src = converted
    isa.tensor_copy_predicated(dst, src, predicate)


def fitting(target: ClassicTensor, source: ClassicTensor) -> ClassicTensor:
    """Return the source if it broadcasts to the target, or differs only in dimensions of size 1.

    For any other source, tracing ends with a finding.
    """
    if broadcast(source.shape, target.shape) == target.shape:
        return source
    if [n for n in source.shape if n > 1] == [n for n in target.shape if n > 1]:
        return source
    target.fail(
        STORE_SHAPE,
        f"what is assigned has shape {source.shape}, which does not broadcast to {target.shape}, "
        "the shape of the destination",
        _help_for_shapes(source, target),
    )


def _help_for_shapes(source: ClassicTensor, target: ClassicTensor) -> str:
    if source.shape == tuple(reversed(target.shape)):
        return "transpose first, e.g. with nl.transpose, or make the destination as large"
    if len(source.shape) != len(target.shape):
        return f"give both {numbered(len(target.shape), 'dimension')}, with reshape"
    larger = [
        dim
        for dim, (size, limit) in enumerate(zip(source.shape, target.shape, strict=True))
        if size > limit
    ]
    if not larger:
        return f"assign to the part of the destination that has shape {source.shape}"
    keys = ", ".join(
        f"0:{target.shape[dim]}" if dim in larger else ":" for dim in range(len(source.shape))
    )
    return f"assign the part [{keys}], or make the destination as large, {source.shape}"


def part_for(box: TileBox, target: ClassicTensor, source: ClassicTensor) -> NkiTensor:
    """Return the part of the source that is assigned to a block of the target."""
    if broadcast(source.shape, target.shape) == target.shape:
        return source.part(box.within(source.shape))
    return source.whole() if box.is_whole(target.shape) else source.reshape(target.shape).part(box)


def fill(dst: NkiTensor, value: Any) -> None:
    """Fill a view, in any memory, with a number."""
    if dst.buffer.on_chip and begins_legally(dst):
        isa.memset(dst, value)
        return
    rows = min(dst.shape[0], tracer_for("assignment").target.pmax)
    shape = (rows, *(dst.shape[1:] or (1,)))
    tile = temporary("fill", shape, dst.dtype)
    isa.memset(tile, value)
    for start in range(0, dst.shape[0], rows):
        count = min(rows, dst.shape[0] - start)
        part = dst if count == dst.shape[0] else dst.slice(0, start, start + count)
        isa.dma_copy(part, tile if count == rows else tile.slice(0, 0, count))


def copy(dst: NkiTensor, src: NkiTensor) -> None:
    """Copy and broadcast a view to another view by an engine, or by DMA if no engine can copy."""
    if src.size != dst.size:
        src = _broadcast(src, dst.shape)
    engines = dst.buffer.on_chip and src.buffer.on_chip and begins_legally(dst)
    if engines:
        source = readable(src)
        if source.shape == dst.shape:
            in_pieces(isa.tensor_copy, dst, {"src": source}, {})
        else:
            isa.tensor_copy(dst, source)
        return
    if src.buffer is MemoryRegion.psum:
        moved = temporary(f"{src.name}_sbuf", src.shape, src.dtype)
        isa.tensor_copy(moved, readable(src))
        src = moved
    isa.dma_copy(dst, src)


def _broadcast(view: NkiTensor, shape: tuple[int, ...]) -> NkiTensor:
    while view.ndim < len(shape):
        view = view.expand_dim(1 if view.buffer.on_chip else 0)
    if not view.buffer.on_chip:
        for dim, size in enumerate(shape):
            view = view if view.shape[dim] == size else view.broadcast(dim, size)
        return view
    return broadcast_view(view, shape)


# ------------------------------------------------------------------ accumulation in PSUM


def accumulate(target: ClassicTensor, value: Any, temporary_value: bool) -> ClassicTensor | None:
    """Let the matmul of `psum += nisa.nc_matmul(…)` accumulate in the target.

    Returns the target, or None if the value is not a matmul that can write to the target.

    The first matmul overwrites the tile, so a `memset` that fills it with zeros for the sum is
    removed. A tile that was never written counts as zeros: a tile at a fixed address can have no
    initial value, and published kernels accumulate in such tiles.
    """
    if target.buffer is not MemoryRegion.psum or not temporary_value or 0 in target.shape:
        return None
    fresh = value.fresh if isinstance(value, ClassicTile) else None
    if fresh is None or value.shape != target.shape:
        return None
    matmul = fresh.ops[-1]  # the instructions before it compute its operands
    tracer = tracer_for("+=")
    if not isinstance(matmul, NcMatmulOp) or is_transpose(matmul):
        return None
    part = target.part(_computed(value))
    is_used = next(_uses_of(part), None) is not None
    zeros, is_read = _only_zeros(part)
    if not forward(tracer, fresh, target.part):
        return None
    if zeros is not None and zeros.dst is part.ssa_value() and not is_read:
        zeros.detach()
        zeros.erase()
    begins = zeros is not None or not is_used
    matmul.properties["accumulate"] = IntegerAttr.from_bool(not begins)
    return target


def _computed(value: ClassicTile) -> TileBox:
    """Return the block of `value`, the result of a call, that the call has computed."""
    box = None if value.computed is None else value.computed.box
    return TileBox.whole(value.shape) if box is None else box


def _uses_of(part: NkiTensor) -> Iterator[Operation]:
    """Yield the instructions that access elements of a view; first the direct users of the view."""
    base, value = part.storage.value, part.ssa_value()
    yield from _used_by(value)
    if value is not base:
        yield from _used_by(base)
    for other in views_of(base):
        if other is not value and info_of(other).overlaps(info_of(value)):
            yield from _used_by(other)


def _used_by(value: SSAValue) -> Iterator[Operation]:
    return (use.operation for use in value.uses if not isinstance(use.operation, ViewOp))


def _is_written(target: ClassicTensor) -> bool:
    """Return True when an instruction accesses any element of the tensor."""
    if isinstance(target, Blocks):
        return any(_is_written(tile) for _, tile in target.tiles())
    return next(_uses_of(target.whole()), None) is not None


def _only_zeros(part: NkiTensor) -> tuple[MemsetOp | None, bool]:
    """Return the `memset` that fills a view with zeros, if no other instruction writes the view.

    The second result is whether other instructions read the zeros, so that they must remain.
    """
    base, zeros, is_read = part.storage.value, None, False
    for op in _uses_of(part):
        if not is_instruction(op) or zeros is op:
            return None, False
        if all(f.role is Role.read for f, value in op.given_operands() if base_of(value) is base):
            is_read = True
            continue
        if zeros is not None or not isinstance(op, MemsetOp) or op.value_of("value") != 0:
            return None, False
        zeros = op
    if zeros is None or zeros.parent is not base.owner.parent:
        return None, False
    covers = zeros.dst is base or zeros.dst is part.ssa_value()
    return (zeros, is_read) if covers else (None, False)


def update(
    target: ClassicTensor, compute: Callable[[ClassicTensor, Any], ClassicTensor], value: Any
) -> None:
    """Assign `compute(target, value)` to the elements of the target that `value` has computed."""
    region = value.computed if isinstance(value, ClassicTile) else None
    if region is None or value.shape != target.shape:
        assign(target, compute(target, value), True)
        return
    mark_masked(target)
    for box in region.boxes():
        place = ClassicTile(target.part(box))
        assign(place, compute(place, ClassicTile(value.part(box))), True)
