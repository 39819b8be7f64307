"""Emits the instructions of classic functions: allocates results and crops operands to masks.

`functional` is the body of all these functions. It finds the tile that a call *spans* (the shape of
all operands broadcast together) and the region of this tile that the mask selects. The instruction
gets this region of every operand, and the call returns a new tile.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NoReturn

from nkijit import isa
from nkijit.classic.destinations.forwarding import (
    Fresh,
    Mark,
    forward,
    instructions_since,
    walkable,
)
from nkijit.classic.indexing.boxes import TileBox, broadcast
from nkijit.classic.indexing.expressions import Index, Mask, as_mask
from nkijit.classic.indexing.masked_regions import MaskedRegion, masked_region
from nkijit.classic.tensors.tensors import (
    ClassicTensor,
    ClassicTile,
    Masked,
    as_tensor,
    mark_masked,
)
from nkijit.dialects.declare.rules.shape_helps import for_contracted, for_shapes
from nkijit.dialects.hardware.targets import start_partitions
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.rule_texts.classic import DIMENSIONS, MASK_EXPRESSION, TILE_EXPECTED
from nkijit.dialects.rule_texts.operands import UNSUPPORTED
from nkijit.dialects.rule_texts.shapes import FREE_SIZE, PARTITIONS
from nkijit.dialects.spelling import did_you_mean, numbered
from nkijit.language.creation import allocate
from nkijit.language.tiles import in_sbuf, temporary
from nkijit.passes.diagnostics.places import positions
from nkijit.tracing.api_names import api_function, names_of, parameters_of
from nkijit.tracing.call_arguments import undocumented
from nkijit.tracing.dtype_names import CLASSIC
from nkijit.tracing.locations import Sites, author_frame
from nkijit.tracing.tensor import NkiTensor, first_partition, mark_allocation_masked
from nkijit.tracing.tracer import check_api, tracer_for


class Axis(int):
    """The size of a result's dimension: that of a dimension of the spanned tile (`functional`).

    The integer is the number of the dimension in the spanned tile.
    """


def refuse_rest(call: str, rest: Mapping[str, Any]) -> None:
    """End the trace at undocumented arguments, which reach a function only through `**kwargs`.

    All functions call this first, so it also ends the trace of a kernel of the current API.
    """
    check_api(CLASSIC, call)
    if rest:
        tracer = tracer_for(call)
        texts = undocumented(call, author_frame())
        if texts is not None:
            tracer.stop(texts.finding(tuple(positions(tracer.location()))))
        known = names_of(parameters_of(api_function(call, CLASSIC)))
        names = ", ".join(f"'{name}'" for name in rest)
        suggestions = "".join(did_you_mean(name, known) for name in rest)
        message = f"arguments that are not documented: {names}{suggestions}"
        help = f"leave it out: {call} takes {', '.join(known)}" if known else ""
        tracer.fail(UNSUPPORTED, call, message, help)


def functional(
    call: str,
    emit: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    dtype: Any = None,
    mask: Any = None,
    shape: Sequence[int] | None = None,
    buffer: MemoryRegion = MemoryRegion.sbuf,
    spans: Sequence[int] | None = None,
    axes: Mapping[str, Sequence[int]] | None = None,
    per_partition: Collection[str] = (),
    updated: Collection[str] = (),
    from_sbuf: Collection[str] = (),
    exact: bool = True,
    by_dma: bool = False,
    box_only: bool = False,
) -> ClassicTile:
    """Return the result of a call: a new tile that is filled by instructions.

    Args:
        call: the name of the function in kernels.
        emit: a function that emits the instructions, often one of `nkijit.isa`. It is called as
            `emit(dst, **arguments)`, with views of the current API in place of tensors.
        arguments: the arguments by name. Tensors, index expressions and predicates broadcast to the
            tile that the call spans (the spanned tile), unless `axes` maps their dimensions.
        dtype: data type of the result.
        mask: the user's `mask=` for the spanned tile.
        shape: the shape of the result, by default that of the spanned tile. `Axis(d)` is the size
            of its dimension d.
        buffer: the memory of the result.
        spans: the shape of the spanned tile, by default derived from the operands.
        axes: names of operands that do not broadcast, each mapped to the dimensions of the spanned
            tile that correspond to the operand's dimensions.
        per_partition: names of operands that share only the partition dimension with the spanned
            tile.
        updated: names of operands that the instructions also write.
        from_sbuf: names of operands that are copied to SBUF first if they are in PSUM.
        exact: the instructions compute in float32, and round to `dtype` when they write.
        by_dma: the instructions are DMAs, which can access every partition.
        box_only: refuse masks that do not select a block, e.g. for reductions.
    """
    span = _Span.of(call, arguments, mask, spans, axes or {}, per_partition, box_only)
    box, region, spanned = span.region.box, span.region, span.shape
    dims: Sequence[int] | None = shape
    full = spanned
    if dims is not None:
        full = tuple(spanned[d] if isinstance(d, Axis) else d for d in dims)
    result = allocate(call, full, dtype, buffer, "")
    if not region.is_whole(spanned):
        mark_allocation_masked(result)
    if box is None:
        return ClassicTile(result, computed=region)
    part = box
    if dims is not None:
        part = TileBox(
            tuple(box.starts[d] if isinstance(d, Axis) else 0 for d in dims),
            tuple(box.sizes[d] if isinstance(d, Axis) else d for d in dims),
        )
    part = _of_rank(part, result.ndim)
    dst = result if part.is_whole(result.shape) else ClassicTile(result).part(part)
    given = span.parts(box, span.operands if by_dma else updated)
    given |= {name: in_sbuf(given[name]) for name in from_sbuf}
    mark = result.storage.tracer.mark()
    out = dst
    if not (by_dma or result.buffer is not MemoryRegion.sbuf or begins_legally(dst)):
        out = temporary(f"{result.name}_moved", dst.shape, dst.dtype)
    if by_dma or box_only or shape is not None or axes or per_partition:
        emit(out, **{**arguments, **given})
    else:
        in_pieces(emit, out, given, arguments)
    if out is not dst:
        isa.dma_copy(dst, out)
    if region.rest:  # the block around the mask is computed, too, so it needs a tile of its own
        return ClassicTile(result, computed=region)
    fresh = fresh_since(mark, result, exact, result.storage.tracer.sites())
    return ClassicTile(
        result, fresh, None if part.is_whole(result.shape) else MaskedRegion(part, ())
    )


def in_pieces(
    emit: Callable[..., Any],
    dst: NkiTensor,
    operands: Mapping[str, Any],
    arguments: Mapping[str, Any],
) -> None:
    """Emit an element-wise instruction, or several instructions on parts of the operands.

    An engine walks a limited number of dimensions in a partition. Operands with more dimensions are
    split along their shortest dimension, with one instruction per index.
    """
    if dst.ndim <= dst.storage.tracer.target.max_access_dims:
        emit(dst, **{**arguments, **operands})
        return
    tiles = {name: v for name, v in operands.items() if isinstance(v, NkiTensor)}
    dims = [dim for dim in range(1, dst.ndim) if dst.shape[dim] > 1]
    same_rank = all(tile.ndim == dst.ndim for tile in tiles.values()) and len(tiles) == len(
        operands
    )
    if not same_rank or not dims or all(map(walkable, (dst, *tiles.values()))):
        emit(dst, **{**arguments, **operands})
        return
    dim = min(dims, key=lambda d: dst.shape[d])
    for index in range(dst.shape[dim]):
        parts = {
            name: tile if tile.shape[dim] == 1 else tile.slice(dim, index, index + 1)
            for name, tile in tiles.items()
        }
        in_pieces(emit, dst.slice(dim, index, index + 1), parts, arguments)


def in_place(
    call: str,
    emit: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    mask: Any = None,
    axes: Mapping[str, Sequence[int]] | None = None,
    per_partition: Collection[str] = (),
    updated: Collection[str] = ("dst",),
) -> None:
    """Emit instructions that write to the operands named in `updated`, without a new tile.

    The arguments are those of `functional`. The mask must select a block.
    """
    span = _Span.of(call, arguments, mask, None, axes or {}, per_partition, True)
    if span.region.box is None:
        for name in set(updated) & span.operands.keys():
            mark_masked(as_tensor(call, name, arguments[name]))
    if span.region.box is not None:
        emit(**{**arguments, **span.parts(span.region.box, updated)})


@dataclass(frozen=True, slots=True)
class _Span:
    """The tile that a call spans (`functional`), the region that masks select, and the operands."""

    shape: tuple[int, ...]
    region: MaskedRegion
    operands: Mapping[str, ClassicTensor | Index | Mask]
    axes: Mapping[str, Sequence[int]]
    per_partition: Collection[str]

    @staticmethod
    def of(
        call: str,
        arguments: Mapping[str, Any],
        mask: Any,
        spans: Sequence[int] | None,
        axes: Mapping[str, Sequence[int]],
        per_partition: Collection[str],
        box_only: bool,
    ) -> _Span:
        """Return the span of a call (see `functional`), from the operands among its arguments."""
        operands: dict[str, ClassicTensor | Index | Mask] = {}
        for name, value in arguments.items():
            if isinstance(value, (ClassicTensor, NkiTensor)):
                operands[name] = as_tensor(call, name, value)
            elif isinstance(value, (Index, Mask)):
                operands[name] = value
        spanning = {name: v for name, v in operands.items() if name not in per_partition}
        if len(spanning) > 1:
            operands |= _reshaped(spanning, axes)
            spanning = {name: operands[name] for name in spanning}
        shape = spanned_by(call, spanning, axes) if spans is None else tuple(spans)
        if spans is not None:
            _check_span(call, shape, {n: v for n, v in spanning.items() if n not in axes})
        region = masked_region(call, as_mask(call, mask), shape)
        for name, operand in operands.items():
            if isinstance(operand, Masked) and name in axes:
                region = _within(call, region, operand, axes[name], shape)
                operands[name] = operand.tensor
        if region.rest and box_only:
            _refuse_mask(call, "'mask'")
        return _Span(shape, region, operands, axes, per_partition)

    def parts(self, box: TileBox, updated: Collection[str]) -> dict[str, Any]:
        """Return the part of each operand inside a box of the tile.

        Operands that are not in `updated` are copied first if engines cannot read the part.
        """
        given: dict[str, Any] = {}
        for name, operand in self.operands.items():
            if isinstance(operand, (Index, Mask)):
                given[name] = operand.part(box)
                continue
            if name in self.axes:
                within = box.of(self.axes[name], operand.shape)
            elif name in self.per_partition:
                within = box.with_partitions(self.shape[0], operand.shape)
            else:
                within = box.within(operand.shape)
            part = operand.part(within)
            given[name] = part if name in updated else readable(part)
        return given


def _check_span(
    call: str, shape: tuple[int, ...], operands: Mapping[str, ClassicTensor | Index | Mask]
) -> None:
    """Refuse operands that do not broadcast to the shape of the tile that a call spans."""
    for name, operand in operands.items():
        if broadcast(operand.shape, shape) != shape:
            tracer_for(call).fail(
                TILE_EXPECTED,
                call,
                f"'{name}' of shape {operand.shape} does not broadcast to the result's {shape}",
            )


def _refuse_mask(call: str, which: str) -> NoReturn:
    tracer_for(call).fail(
        MASK_EXPRESSION,
        call,
        f"{which} leaves no block of the tile, and the function reads across elements or writes "
        "in place",
        "mask one dimension with each comparison, or fill the rest first",
    )


def _within(
    call: str, region: MaskedRegion, operand: Masked, axes: Sequence[int], shape: Sequence[int]
) -> MaskedRegion:
    """Return the part of a region that the mask of an operand also selects."""
    own = MaskedRegion.of(operand.mask, operand.shape)
    if own.rest:
        _refuse_mask(call, f"the mask of operand '{operand.name}'")
    across = None if own.box is None else own.box.across(axes, shape)
    return region & MaskedRegion(across, ())


def _reshaped(
    spanning: Mapping[str, ClassicTensor | Index | Mask], axes: Mapping[str, Sequence[int]]
) -> dict[str, ClassicTensor]:
    """Reshape tensors to the shape of the largest tensor, if they broadcast within partitions.

    A tensor is reshaped if it has one element per partition, or as many as the largest tensor.
    Partitions are never broadcast to another dimension. If several tensors are the largest, the
    first one determines the shape.
    """
    tensors = {
        name: v for name, v in spanning.items() if isinstance(v, ClassicTensor) and name not in axes
    }
    largest = max(tensors.values(), key=lambda tensor: prod(tensor.shape), default=None)
    found: dict[str, ClassicTensor] = {}
    for name, tensor in tensors.items():
        assert largest is not None
        partitions = tensor.shape[0]
        if partitions != largest.shape[0]:
            continue
        if prod(tensor.shape) == partitions and len(tensor.shape) < len(largest.shape):
            ones = (1,) * (len(largest.shape) - 1)
            found[name] = ClassicTile(tensor.whole().reshape((partitions, *ones)))
        elif broadcast(tensor.shape, largest.shape) is not None:
            continue
        elif prod(tensor.shape) == prod(largest.shape):
            found[name] = ClassicTile(tensor.whole().reshape(largest.shape))
    return found


def fresh_since(mark: Mark, result: NkiTensor, exact: bool, made: Sites = ()) -> Fresh | None:
    """Return the instructions since `mark` (a point in the trace) that fill `result`, if known."""
    ops = instructions_since(result.storage.tracer, mark)
    alloc = result.storage.value.owner
    if not ops or not isinstance(alloc, AllocOp):
        return None
    return Fresh(alloc, tuple(ops), exact, made)


def composed(compute: Callable[..., NkiTensor], **fixed: Any) -> Callable[..., None]:
    """Convert a function that returns a new tile to an `emit(dst, **arguments)` for `functional`.

    `emit` calls `compute(**arguments, **fixed)`. The instructions of the call then write to `dst`
    instead of the new tile; if they cannot, the tile is copied. The shapes of the tile and `dst`
    may differ by dimensions of size 1.
    """

    def emit(dst: NkiTensor, **arguments: Any) -> None:
        mark = dst.storage.tracer.mark()
        result = compute(**arguments, **fixed)
        place(dst, result, mark)

    return emit


def place(dst: NkiTensor, result: NkiTensor, mark: Mark) -> None:
    """Let the instructions that compute `result` write to `dst`; if impossible, copy `result`."""
    target = with_shape(dst, result.shape)
    fresh = fresh_since(mark, result, False)
    if fresh is None or not forward(result.storage.tracer, fresh, ClassicTile(target).part):
        isa.tensor_copy(target, result)


def with_shape(view: NkiTensor, shape: Sequence[int]) -> NkiTensor:
    """Return a view in a shape that differs from the view's shape only by dimensions of size 1."""
    if view.shape == tuple(shape):
        return view
    first = 1 if view.buffer.on_chip else 0
    for dim in reversed(range(first, view.ndim)):
        if view.shape[dim] == 1 and view.ndim > first + 1:
            view = view.squeeze_dim(dim)
    for dim, size in enumerate(shape):
        if dim == view.ndim or (view.shape[dim] != size and size == 1):
            view = view.expand_dim(dim)
    return view


def raised(call: str, view: NkiTensor, rank: int) -> NkiTensor:
    """Return a tile with `rank` dimensions, to broadcast it; as in NumPy, new dimensions are first.

    The first dimension remains the partition dimension, so its size must be 1.
    """
    if view.ndim < rank and view.shape[0] != 1:
        tracer_for(call).fail(
            TILE_EXPECTED,
            call,
            f"tile '{view.name}' of shape {view.shape} would broadcast its partitions to another "
            f"dimension of {rank}",
            "give the tiles the same number of dimensions",
        )
    while view.ndim < rank:
        view = view.expand_dim(1)
    return view


def _of_rank(box: TileBox, rank: int) -> TileBox:
    """Extend a box to `rank` dimensions: 1-D tiles have a second dimension, of size 1, on chip."""
    missing = rank - len(box.starts)
    return TileBox(box.starts + (0,) * missing, box.sizes + (1,) * missing) if missing else box


def spanned_by(
    call: str,
    operands: Mapping[str, ClassicTensor | Index | Mask],
    axes: Mapping[str, Sequence[int]],
) -> tuple[int, ...]:
    """Return the shape of the tile that a call spans: its operands broadcast together."""
    if len(operands) == 1 and not axes:
        (only,) = operands.values()
        return only.shape
    rank = 1 + max((dim for own in axes.values() for dim in own), default=-1)
    shapes: list[tuple[int, ...]] = []
    for name, operand in operands.items():
        if name not in axes:
            shapes.append(operand.shape)
            continue
        if len(operand.shape) != len(axes[name]):
            tracer_for(call).fail(
                DIMENSIONS,
                call,
                f"'{name}' of shape {operand.shape} has "
                f"{numbered(len(operand.shape), 'dimension')}; legal: "
                f"{len(axes[name])}",
            )
        sizes = [1] * rank
        for dim, size in zip(axes[name], operand.shape, strict=True):
            sizes[dim] = size
        shapes.append(tuple(sizes))
    shape = broadcast(*shapes) if shapes else None
    if shape is None:
        listed = ", ".join(f"'{name}' has {operand.shape}" for name, operand in operands.items())
        partitions = {operand.shape[0] for operand in operands.values()}
        rule = PARTITIONS if len(partitions) > 1 else FREE_SIZE if listed else TILE_EXPECTED
        tracer_for(call).fail(
            rule,
            call,
            f"operands that do not fit together: {listed or 'no tile'}",
            _help_for_shapes({name: operand.shape for name, operand in operands.items()}, axes),
        )
    return shape


def _help_for_shapes(shapes: Mapping[str, Sequence[int]], axes: Mapping[str, Sequence[int]]) -> str:
    if not shapes:
        return "compute with numbers in Python"
    help = for_contracted(shapes, axes) if len(shapes) == 2 else None
    return help or for_shapes(shapes)


def readable(view: NkiTensor) -> NkiTensor:
    """Return a view that engines can read: the view itself, or a copy by DMA.

    Engines only read from certain start partitions.
    """
    if not view.buffer.on_chip or view.is_indirect() or begins_legally(view):
        return view
    moved = temporary(f"{view.name}_moved", view.shape, view.dtype)
    source = view
    if view.buffer is MemoryRegion.psum:
        source = temporary(f"{view.name}_sbuf", view.shape, view.dtype)
        isa.tensor_copy(source, view)
    isa.dma_copy(moved, source)
    return moved


def begins_legally(view: NkiTensor) -> bool:
    """Return True when the first partition of a view in SBUF or PSUM is legal for engines."""
    return first_partition(view) in start_partitions(view.shape[0])
