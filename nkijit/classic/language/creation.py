"""Tensors: allocation, block dimensions, buffers, constants."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from nkijit import language as current
from nkijit.classic.calls.assignment import fill
from nkijit.classic.calls.calls import refuse_rest
from nkijit.classic.destinations.forwarding import instructions_since
from nkijit.classic.grids.instances import active_instance, places_automatically
from nkijit.classic.tensors.blocks import Blocks
from nkijit.classic.tensors.dtypes import as_numpy
from nkijit.classic.tensors.memory import DirectAllocation, as_buffer
from nkijit.classic.tensors.tensors import ClassicTensor, ClassicTile, as_tensor
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nisa.movement import MemsetOp
from nkijit.dialects.rule_texts.classic import HBM_INITIAL_VALUE, PLACED_INITIAL_VALUE
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.dialects.spelling import numbered
from nkijit.language.creation import allocate, checked_dims, par_dim
from nkijit.tracing.checks import dtype_named, integer
from nkijit.tracing.dtype_names import as_dtype
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for

sbuf = MemoryRegion.sbuf
psum = MemoryRegion.psum
private_hbm = MemoryRegion.private_hbm
shared_hbm = MemoryRegion.shared_hbm
hbm = private_hbm


_MOST_BLOCKS = 1 << 20
"""The maximum number of blocks of a tensor: more never fit on the chip."""


def _new(
    call: str,
    shape: Any,
    dtype: Any,
    buffer: Any,
    name: str,
    put: Callable[[ClassicTile], None] | None,
) -> ClassicTensor:
    """Allocate a tensor, with one tile for each block; `put` writes a tile's initial values."""
    region, placement = as_buffer(buffer)
    if places_automatically():
        placement = None
    dims = checked_dims(tracer_for(call), call, shape)
    given = cast("tuple[Any, ...]", shape if isinstance(shape, (tuple, list)) else (shape,))
    at = next((i for i, n in enumerate(given) if isinstance(n, par_dim)), 0)
    on_chip = isinstance(region, MemoryRegion) and region.on_chip
    blocks = dims[:at] if on_chip else ()
    if prod(blocks) > _MOST_BLOCKS:
        message = f"'shape' has {numbered(prod(blocks), 'block')}; legal: at most {_MOST_BLOCKS}"
        tracer_for(call).fail(ARGUMENT, call, message, "allocate as many tiles as fit on the chip")
    tile_shape = dims[len(blocks) :]
    tiles: list[ClassicTile] = []
    for index in product(*map(range, blocks)):
        address = None
        if placement is not None:
            size = prod(tile_shape[1:]) * dtype_named(call, "dtype", dtype).itemsize
            address = placement.address(call, index, tile_shape[0], size)
        tile = ClassicTile(_allocated(call, tile_shape, dtype, region, name, address))
        if put is not None:
            put(tile)
        tiles.append(tile)
    return Blocks(blocks, tiles) if blocks else tiles[0]


def _allocated(
    call: str, shape: tuple[int, ...], dtype: Any, region: Any, name: str, address: Any
) -> NkiTensor:
    """Allocate a tile; tensors in shared HBM are allocated once for all instances of a grid."""
    instance = active_instance()
    if region is not shared_hbm or instance is None:
        return allocate(call, shape, dtype, region, name, address)
    number = instance.allocated
    instance.allocated += 1
    if number == len(instance.shared):
        instance.shared.append(allocate(call, shape, dtype, region, name, address))
    tensor = instance.shared[number]
    if tensor.shape != shape or tensor.dtype != as_dtype(dtype).name:
        tensor.storage.tracer.fail(
            HBM_INITIAL_VALUE,
            call,
            f"instance {instance.at} allocates shared tensor {number} as {shape} "
            f"{as_dtype(dtype).name}, the first instance as {tensor.shape} {tensor.dtype}",
        )
    return tensor


def _refuse_rest(call: str, rest: dict[str, Any]) -> None:
    """Refuse undocumented arguments except `lazy_initialization`, which published kernels pass.

    `lazy_initialization` moves initial values to the first use; see
    `classic.tensors.initialisation`.
    """
    refuse_rest(call, {name: rest[name] for name in rest if name != "lazy_initialization"})


def ndarray(
    shape: Any, dtype: Any, *, buffer: Any = None, name: str = "", **kwargs: Any
) -> ClassicTensor:
    """Allocate a tensor; its contents are undefined.

    Args:
        shape: dimensions; `nl.par_dim(n)` marks the partition dimension, by default the first.
        dtype: data type of an element.
        buffer: `nl.sbuf` (the default), `nl.psum`, `nl.hbm`, `nl.shared_hbm`, or a result of
            functions in `nki.compiler.sbuf` and `.psum`.
        name: the tensor's name; by default the variable it is assigned to.

    Source: NKI API reference 2.26, nki.language.ndarray.
    """
    _refuse_rest("nl.ndarray", kwargs)
    return _new("nl.ndarray", shape, dtype, buffer, name, None)


def full(
    shape: Any,
    fill_value: Any,
    dtype: Any,
    *,
    buffer: Any = None,
    name: str = "",
    **kwargs: Any,
) -> ClassicTensor:
    """Allocate a tile and fill it with a number; arguments as `ndarray`.

    Source: NKI API reference 2.26, nki.language.full.
    """
    return _filled("nl.full", shape, fill_value, dtype, buffer, name, kwargs)


def zeros(
    shape: Any, dtype: Any, *, buffer: Any = None, name: str = "", **kwargs: Any
) -> ClassicTensor:
    """Allocate a tile of zeros; arguments as `ndarray`.

    Source: NKI API reference 2.26, nki.language.zeros.
    """
    return _filled("nl.zeros", shape, 0, dtype, buffer, name, kwargs)


def ones(
    shape: Any, dtype: Any, *, buffer: Any = None, name: str = "", **kwargs: Any
) -> ClassicTensor:
    """Allocate a tile of ones; arguments as `ndarray`.

    Source: NKI API reference 2.26, nki.language.ones.
    """
    return _filled("nl.ones", shape, 1, dtype, buffer, name, kwargs)


def _filled(
    call: str,
    shape: Any,
    value: Any,
    dtype: Any,
    buffer: Any,
    name: str,
    rest: dict[str, Any],
) -> ClassicTensor:
    _refuse_rest(call, rest)
    if isinstance(buffer, MemoryRegion) and not buffer.on_chip:
        tracer_for(call).fail(
            HBM_INITIAL_VALUE, call, f"a tensor in {buffer.value} with an initial value"
        )
    if isinstance(buffer, DirectAllocation):
        tracer_for(call).fail(
            PLACED_INITIAL_VALUE, call, "a tensor at a fixed address with an initial value"
        )

    def put(tile: ClassicTile) -> None:
        tracer = tracer_for(call)
        mark = tracer.mark()
        fill(tile.whole(), value)
        made, instance = instructions_since(tracer, mark), active_instance()
        if rest.get("lazy_initialization") and instance is not None and made and len(made) == 1:
            instance.lazy += [op for op in made if isinstance(op, MemsetOp)]

    return _new(call, shape, dtype, buffer, name, put)


def empty_like(
    a: Any, dtype: Any = None, *, buffer: Any = None, name: str = "", **kwargs: Any
) -> ClassicTensor:
    """Allocate a tensor of the shape of `a`; other arguments as `ndarray`.

    Source: NKI API reference 2.26, nki.language.empty_like.
    """
    refuse_rest("nl.empty_like", kwargs)
    like = as_tensor("nl.empty_like", "a", a)
    return _new(
        "nl.empty_like", _shape_of(like), like.dtype if dtype is None else dtype, buffer, name, None
    )


def zeros_like(
    a: Any, dtype: Any = None, *, buffer: Any = None, name: str = "", **kwargs: Any
) -> ClassicTensor:
    """Allocate a tile of zeros of the shape of `a`; other arguments as `ndarray`.

    Source: NKI API reference 2.26, nki.language.zeros_like.
    """
    like = as_tensor("nl.zeros_like", "a", a)
    element = like.dtype if dtype is None else dtype
    return _filled("nl.zeros_like", _shape_of(like), 0, element, buffer, name, kwargs)


def _shape_of(like: ClassicTensor) -> tuple[int, ...]:
    """Return a tensor's shape; after block dimensions, `par_dim` marks the partition dimension."""
    if not isinstance(like, Blocks):
        return like.shape
    at = len(like.block_shape)
    return (*like.block_shape, par_dim(like.shape[at]), *like.shape[at + 1 :])


def shared_constant(constant: Any, dtype: Any = None, **kwargs: Any) -> ClassicTensor:
    """A tensor of constant data in HBM; see `nkijit.language.shared_constant`.

    Args:
        constant: NumPy array.
        dtype: data type of the tensor, by default that of the array.
    """
    call = "nl.shared_constant"
    refuse_rest(call, kwargs)
    if dtype is not None and isinstance(constant, np.ndarray):
        element = as_numpy(dtype_named(call, "dtype", dtype).name)
        constant = cast("npt.NDArray[Any]", constant).astype(element)
    return ClassicTile(current.shared_constant(constant))


def shared_identity_matrix(n: Any, dtype: Any = np.uint8, **kwargs: Any) -> ClassicTensor:
    """The (n, n) identity matrix in HBM, as `shared_constant`."""
    call = "nl.shared_identity_matrix"
    refuse_rest(call, kwargs)
    rows = integer(call, "n", n, 1, _MOST_ROWS)
    return shared_constant(np.eye(rows, dtype=np.uint8), dtype)


_MOST_ROWS = 8192
"""The maximum number of rows of an identity matrix; uint8 elements then take 64 MB."""


__all__ = [
    "empty_like",
    "full",
    "hbm",
    "ndarray",
    "ones",
    "par_dim",
    "private_hbm",
    "psum",
    "sbuf",
    "shared_constant",
    "shared_hbm",
    "shared_identity_matrix",
    "zeros",
    "zeros_like",
]
