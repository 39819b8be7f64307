"""How functions of the classic API become instructions: masks crop, results are allocated.

`functional` is the body of all of them. It finds the tile that a call spans, the part of it that
the mask leaves, gives the instruction that part of every operand, and returns a new tile.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from nkijit import isa
from nkijit.classic.forwarding import Fresh, Mark, forward, instructions_since
from nkijit.classic.index import Box, Region, as_mask, broadcast
from nkijit.classic.tensors import Tensor, Tile, as_tensor
from nkijit.dialects.access_rules import start_partition
from nkijit.dialects.hardware import MemoryRegion, start_partitions
from nkijit.dialects.nki import AllocOp
from nkijit.dialects.rule_texts.classic import MASK_EXPRESSION, TILE_EXPECTED
from nkijit.dialects.rule_texts.operands import UNSUPPORTED
from nkijit.dialects.tiles import info_of
from nkijit.language.tensors import allocate
from nkijit.language.tiles import temporary
from nkijit.tensor import NkiTensor
from nkijit.tracer import tracer_for


class Axis(int):
    """A dimension of a result that is dimension number so-and-so of the tile that a call spans."""


def refuse_rest(call: str, rest: Mapping[str, Any]) -> None:
    """Refuse arguments that only `**kwargs` of a signature takes."""
    if rest:
        names = ", ".join(f"'{name}'" for name in rest)
        tracer_for(call).fail(UNSUPPORTED, call, f"arguments that are not documented: {names}")


def functional(
    call: str,
    emit: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    dtype: Any = None,
    mask: Any = None,
    shape: Sequence[int] | None = None,
    buffer: MemoryRegion = MemoryRegion.sbuf,
    axes: Mapping[str, Sequence[int]] | None = None,
    updated: Collection[str] = (),
    exact: bool = True,
    box_only: bool = False,
    by_dma: bool = False,
) -> Tile:
    """The tile that a call returns, filled by instructions.

    Args:
        call: the function, as kernels name it.
        emit: emits the instructions: `emit(dst, **arguments)`, tensors as views of the current
            API. Often a function of `nkijit.isa`.
        arguments: by name. Tensors among them broadcast to the tile that the call spans, unless
            `axes` says which of its dimensions they have.
        dtype: data type of the result.
        mask: the author's `mask=`, of the tile that the call spans.
        shape: dimensions of the result, `Axis(d)` for those of the tile that the call spans; by
            default that tile's.
        buffer: where the result lives.
        axes: for operands that do not broadcast, the dimension of the tile that the call spans
            for each of theirs; those of all operands together make up the tile.
        updated: operands that are written, too.
        exact: the instructions compute in float32, and round to `dtype` when they write.
        box_only: refuse masks that are no block, for functions that read across elements.
        by_dma: the instructions are DMAs, which begin at any partition.
    """
    spanned, tensors, box, region = _masked(call, arguments, mask, axes, box_only)
    dims = [Axis(d) for d in range(len(spanned))] if shape is None else list(shape)
    full = tuple(spanned[d] if isinstance(d, Axis) else d for d in dims)
    result = allocate(call, full, dtype, buffer, "")
    kept = {int(d) for d in dims if isinstance(d, Axis) and not (box_only and d > 0)}
    box = None if box is None else _with_values(box, tensors, axes or {}, kept)
    if box is None:
        return Tile(result, computed=Region(None, ()))
    part = Box(
        tuple(box.starts[d] if isinstance(d, Axis) else 0 for d in dims),
        tuple(box.sizes[d] if isinstance(d, Axis) else d for d in dims),
    )
    dst = Tile(result).part(_of_rank(part, result.ndim))
    given = _parts(tensors, box, axes, updated)
    mark = result.storage.tracer.mark()
    if by_dma or buffer is MemoryRegion.psum or begins_legally(dst):
        emit(dst, **{**arguments, **given})
    else:
        out = temporary(f"{result.name}_part", dst.shape, dst.dtype)
        emit(out, **{**arguments, **given})
        isa.dma_copy(dst, out)
    partial = Region(part, region.rest)
    return Tile(
        result,
        fresh_since(mark, result, exact),
        None if part.is_whole(full) and not region.rest else partial,
    )


def _with_values(
    box: Box, tensors: Mapping[str, Tensor], axes: Mapping[str, Sequence[int]], kept: set[int]
) -> Box | None:
    """The part of a box in which operands have values that masks have left without elsewhere.

    A result has no values there either. Dimensions that the function reads across stay as they
    are, all but the `kept` ones.
    """
    starts, sizes = list(box.starts), list(box.sizes)
    for name, tensor in tensors.items():
        known = tensor.computed if isinstance(tensor, Tile) else None
        if known is None:
            continue
        if known.box is None:
            return None
        own = axes.get(name, range(len(starts) - tensor.ndim, len(starts)))
        for at, dim in enumerate(own):
            if dim not in kept or tensor.shape[at] == 1:
                continue
            first, count = known.box.starts[at], known.box.sizes[at]
            end = min(starts[dim] + sizes[dim], first + count)
            starts[dim] = max(starts[dim], first)
            sizes[dim] = end - starts[dim]
            if sizes[dim] <= 0:
                return None
    return Box(tuple(starts), tuple(sizes))


def in_place(
    call: str,
    emit: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    mask: Any = None,
    axes: Mapping[str, Sequence[int]] | None = None,
    updated: Collection[str] = ("dst",),
) -> None:
    """Emit instructions that write into their operands `updated`; arguments as `functional`."""
    _, tensors, box, _ = _masked(call, arguments, mask, axes, True)
    if box is not None:
        emit(**{**arguments, **_parts(tensors, box, axes, updated)})


def _masked(
    call: str,
    arguments: Mapping[str, Any],
    mask: Any,
    axes: Mapping[str, Sequence[int]] | None,
    box_only: bool,
) -> tuple[tuple[int, ...], dict[str, Tensor], Box | None, Region]:
    tensors = {
        name: as_tensor(call, name, value)
        for name, value in arguments.items()
        if isinstance(value, (Tensor, NkiTensor))
    }
    spanned = spanned_by(call, tensors, axes or {})
    region = as_mask(call, mask).region(spanned)
    if region.rest and box_only:
        tracer_for(call).fail(
            MASK_EXPRESSION,
            call,
            "'mask' leaves no block of the tile, and the function reads across elements or writes "
            "in place",
            "mask one dimension with each comparison, or fill the rest first",
        )
    return spanned, tensors, region.box, region


def _parts(
    tensors: Mapping[str, Tensor],
    box: Box,
    axes: Mapping[str, Sequence[int]] | None,
    updated: Collection[str],
) -> dict[str, NkiTensor]:
    given: dict[str, NkiTensor] = {}
    for name, tensor in tensors.items():
        own = (axes or {}).get(name)
        within = box.within(tensor.shape) if own is None else box.of(own, tensor.shape)
        part = tensor.part(within)
        given[name] = part if name in updated else readable(part)
    return given


def fresh_since(mark: Mark, result: NkiTensor, exact: bool) -> Fresh | None:
    """What has been emitted to fill a result since a mark, as `forward` takes it."""
    ops = instructions_since(result.storage.tracer, mark)
    alloc = result.storage.value.owner
    if not ops or not isinstance(alloc, AllocOp):
        return None
    return Fresh(alloc, tuple(ops), exact)


def composed(compute: Callable[..., NkiTensor], **fixed: Any) -> Callable[..., None]:
    """`emit` of `functional` for a function that allocates its result.

    What `compute(**arguments, **fixed)` returns goes to `dst`: its instructions write there, or it
    is copied. It may have more or fewer dimensions of size 1 than `dst`.
    """

    def emit(dst: NkiTensor, **arguments: Any) -> None:
        mark = dst.storage.tracer.mark()
        result = compute(**arguments, **fixed)
        place(dst, result, mark)

    return emit


def place(dst: NkiTensor, result: NkiTensor, mark: Mark) -> None:
    """Let what was emitted since a mark to fill `result` write `dst`, or copy it there."""
    target = with_shape(dst, result.shape)
    fresh = fresh_since(mark, result, False)
    if fresh is None or not forward(result.storage.tracer, fresh, Tile(target).part):
        isa.tensor_copy(target, result)


def with_shape(view: NkiTensor, shape: Sequence[int]) -> NkiTensor:
    """A view in a shape that differs from its own by dimensions of size 1."""
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
    """A tile with as many dimensions as the one it broadcasts to; new ones come first, as in NumPy.

    The first dimension stays the partition dimension, so that it has to be of size 1.
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


def _of_rank(box: Box, rank: int) -> Box:
    """A box of a tile of one dimension, which has a second one of size 1 on chip."""
    missing = rank - len(box.starts)
    return Box(box.starts + (0,) * missing, box.sizes + (1,) * missing) if missing else box


def spanned_by(
    call: str, tensors: Mapping[str, Tensor], axes: Mapping[str, Sequence[int]]
) -> tuple[int, ...]:
    """The shape of the tile that operands span together."""
    rank = 1 + max((dim for own in axes.values() for dim in own), default=-1)
    shapes: list[tuple[int, ...]] = []
    for name, tensor in tensors.items():
        if name not in axes:
            shapes.append(tensor.shape)
            continue
        sizes = [1] * rank
        for dim, size in zip(axes[name], tensor.shape, strict=True):
            sizes[dim] = size
        shapes.append(tuple(sizes))
    shape = broadcast(*shapes) if shapes else None
    if shape is None:
        listed = ", ".join(f"'{name}' has {tensor.shape}" for name, tensor in tensors.items())
        tracer_for(call).fail(
            TILE_EXPECTED,
            call,
            f"operands that do not fit together: {listed or 'no tile'}",
            "give it tiles whose shapes broadcast" if listed else "compute with numbers in Python",
        )
    return shape


def readable(view: NkiTensor) -> NkiTensor:
    """A view that engines can read: one that begins elsewhere in the partitions is moved by DMA."""
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
    """True when engines can access a view in SBUF or PSUM from its first partition on."""
    value = view.ssa_value()
    first, _ = start_partition(value)
    return first in start_partitions(info_of(value).partitions)
