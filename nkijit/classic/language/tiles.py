"""Functions of whole tiles: matrix products, transposes, shapes, selection, gathering, printing.

Source: NKI API reference 2.26, nki.language.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from nkijit import isa
from nkijit import language as current
from nkijit.classic.calls.calls import (
    Axis,
    composed,
    fresh_since,
    functional,
    in_place,
    raised,
    readable,
    refuse_rest,
)
from nkijit.classic.indexing.expressions import Index, as_predicate
from nkijit.classic.indexing.predicates import choose, fill_truth
from nkijit.classic.tensors.dtypes import as_numpy
from nkijit.classic.tensors.promotion import promoted
from nkijit.classic.tensors.tensors import ClassicTensor, ClassicTile, as_tensor
from nkijit.dialects.access import DynamicSlice
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.language.composites import where_into
from nkijit.language.creation import checked_dims
from nkijit.tracing.checks import dtype_named, flag, refuse
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


def matmul(
    x: Any, y: Any, *, transpose_x: bool = False, mask: Any = None, **kwargs: Any
) -> ClassicTensor:
    """`x @ y`, or `x.T @ y` with `transpose_x`: a new float32 tile in PSUM.

    See `nkijit.language.matmul`. The mask has three dimensions: the contraction, the rows and the
    columns of the result. `psum += nl.matmul(…)` accumulates in PSUM.
    """
    call = "nl.matmul"
    refuse_rest(call, kwargs)
    transposed = flag(call, "transpose_x", transpose_x)
    return functional(
        call,
        composed(current.matmul, transpose_x=transposed),
        {"x": as_tensor(call, "x", x), "y": as_tensor(call, "y", y)},
        axes={"x": (0, 1) if transposed else (1, 0), "y": (0, 2)},
        shape=(Axis(1), Axis(2)),
        dtype="float32",
        mask=mask,
        buffer=MemoryRegion.psum,
        from_sbuf=("x", "y"),
        box_only=True,
    )


def transpose(x: Any, *, dtype: Any = None, mask: Any = None, **kwargs: Any) -> ClassicTensor:
    """Transpose a 2-D tile into a new tile in PSUM.

    See `nkijit.language.transpose`. The mask selects a block of `x`.
    """
    call = "nl.transpose"
    refuse_rest(call, kwargs)
    tile = as_tensor(call, "x", x)
    return transposed(call, current.transpose, "x", tile, dtype, mask, MemoryRegion.psum)


def transposed(
    call: str,
    compute: Callable[..., NkiTensor],
    argument: str,
    source: ClassicTensor,
    dtype: Any,
    mask: Any,
    buffer: MemoryRegion,
) -> ClassicTensor:
    """The shared body of transposes: calls `compute` with the unmasked part of the tile."""
    wanted = source.dtype if dtype is None else dtype
    return functional(
        call,
        composed(compute, dtype=wanted),
        {argument: source},
        axes={argument: (0, 1)},
        shape=(Axis(1), Axis(0)),
        dtype=wanted,
        mask=mask,
        buffer=buffer,
        box_only=True,
    )


def where(
    condition: Any, x: Any, y: Any, *, dtype: Any = None, mask: Any = None, **kwargs: Any
) -> ClassicTensor:
    """`x` where `condition` is not 0, else `y`; see `nkijit.language.where`.

    Args:
        condition: tile, 1 for true and 0 for false; or a comparison of index expressions.
        x: tile or number.
        y: tile or number.
        dtype: data type of the result, by default the type to which `x` and `y` promote.
        mask: which elements are computed.
    """
    call = "nl.where"
    refuse_rest(call, kwargs)
    wanted = promoted(x, y) if dtype is None else dtype
    chosen = as_predicate(condition)
    if chosen is None:
        chosen = as_tensor(call, "condition", condition)

    def emit(dst: NkiTensor, **operands: Any) -> None:
        alike = {
            name: raised(call, value, dst.ndim) if isinstance(value, NkiTensor) else value
            for name, value in operands.items()
        }
        write: Callable[..., None] = where_into if isinstance(chosen, ClassicTensor) else choose
        write(dst, **alike)

    return functional(call, emit, {"condition": chosen, "x": x, "y": y}, dtype=wanted, mask=mask)


def broadcast_to(src: Any, *, shape: Any, **kwargs: Any) -> ClassicTensor:
    """A tile repeated to a shape by NumPy's rules; `src` itself if `src` has that shape.

    A comparison of index expressions gives a bool_ tile of its truth values. See
    `nkijit.language.broadcast_to`.
    """
    call = "nl.broadcast_to"
    refuse_rest(call, kwargs)
    dims = checked_dims(tracer_for(call), call, shape)
    predicate = as_predicate(src)
    if predicate is not None:
        return functional(call, fill_truth, {"pred": predicate}, dtype=bool, spans=dims)
    tile = as_tensor(call, "src", src)
    if dims == tile.shape:
        return tile
    mark = tracer_for(call).mark()
    result = current.broadcast_to(raised(call, readable(tile.whole()), len(dims)), dims)
    return ClassicTile(result, fresh_since(mark, result, True, result.storage.tracer.sites()))


def expand_dims(data: Any, axis: Any) -> ClassicTensor | Index:
    """A view with new dimensions of size 1, of a tensor or an index expression.

    Args:
        data: a tensor; on chip the first dimension remains the partition dimension.
        axis: position of the new dimension in the result, or several positions, as in NumPy.
    """
    call = "nl.expand_dims"
    positions = cast("tuple[Any, ...]", axis if isinstance(axis, (tuple, list)) else (axis,))
    source = data if isinstance(data, Index) else as_tensor(call, "data", data)
    rank = source.ndim + len(positions)
    if not all(type(p) is int and -rank <= p < rank for p in positions) or (
        len({p % rank for p in positions}) < len(positions)
    ):
        tracer_for(call).wrong_argument(call, "axis", f"positions from {-rank} to {rank - 1}", axis)
    result = source if isinstance(source, Index) else source.whole()
    for position in sorted(p % rank for p in positions):
        if isinstance(result, Index):
            result = result.expand_dims(position)
        else:
            result = current.expand_dims(result, position)
    return result if isinstance(result, Index) else ClassicTile(result)


def gather_flattened(
    data: Any, indices: Any, *, mask: Any = None, dtype: Any = None, **kwargs: Any
) -> ClassicTensor:
    """Elements of each partition of `data`, by index; see `nkijit.language.gather_flattened`.

    Args:
        data: (P, …) tile in SBUF; its free dimensions count as flattened.
        indices: (P, …) uint32 tile in SBUF, with the result's shape.
        mask: which elements of the result are gathered.
        dtype: data type of the result, by default that of `data`.
    """
    call = "nl.gather_flattened"
    refuse_rest(call, kwargs)
    source, at = as_tensor(call, "data", data), as_tensor(call, "indices", indices)
    wanted = source.dtype if dtype is None else dtype
    free = source.ndim - 1  # first, so that the mask is that of the last ones, the result's
    own = tuple(range(free, free + at.ndim))
    return functional(
        call,
        composed(current.gather_flattened, dtype=wanted),
        {"data": source, "indices": at},
        axes={"data": (free, *range(free)), "indices": own},
        shape=tuple(map(Axis, own)),
        dtype=wanted,
        mask=mask,
        box_only=True,
    )


def copy(src: Any, *, mask: Any = None, dtype: Any = None, **kwargs: Any) -> ClassicTensor:
    """A copy, in SBUF, of a tile in SBUF or PSUM; see `nkijit.isa.tensor_copy`."""
    call = "nl.copy"
    refuse_rest(call, kwargs)
    tile = as_tensor(call, "src", src)
    wanted = tile.dtype if dtype is None else dtype
    return functional(call, isa.tensor_copy, {"src": tile}, dtype=wanted, mask=mask)


copy.nki_operator = "copy"  # pyright: ignore[reportFunctionMemberAccess]


def static_cast(input_data: Any, dtype: Any) -> Any:
    """A tile, an array or a number in another data type.

    A tile is copied. An array or a number is converted with NumPy, also outside a kernel.
    """
    if isinstance(input_data, (ClassicTensor, NkiTensor)):
        return copy(input_data, dtype=dtype)
    call = "nl.static_cast"
    element = as_numpy(dtype_named(call, "dtype", dtype).name)
    try:
        if hasattr(input_data, "astype"):
            return input_data.astype(element)
        return np.asarray(input_data).astype(element)[()]
    except (TypeError, ValueError, OverflowError) as error:
        refuse(call, f"'input_data' has no numbers of type {element}: {error}")


def device_print(prefix: Any, x: Any, *, mask: Any = None, **kwargs: Any) -> None:
    """Print the values of a tile when the kernel runs; see `nkijit.language.device_print`."""
    call = "nl.device_print"
    refuse_rest(call, kwargs)
    in_place(
        call,
        current.device_print,
        {"print_prefix": prefix, "tensor": as_tensor(call, "x", x)},
        mask=mask,
        updated=("tensor",),
    )


def ds(start: Any, size: Any) -> DynamicSlice:
    """The index of `size` elements from `start`: `t[:, nl.ds(i * 512, 512)]`."""
    return current.ds(start, size)


__all__ = [
    "broadcast_to",
    "copy",
    "device_print",
    "ds",
    "expand_dims",
    "gather_flattened",
    "matmul",
    "static_cast",
    "transpose",
    "where",
]
