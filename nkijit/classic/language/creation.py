"""Tensors: allocation, block dimensions, buffers, constants."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any, cast

from nkijit import language as current
from nkijit.classic.assignment import fill
from nkijit.classic.kernel import active_instance, places_automatically
from nkijit.classic.memory import as_buffer
from nkijit.classic.tensors import Blocks, Tensor, Tile, as_tensor
from nkijit.dialects.hardware import MemoryRegion
from nkijit.dialects.rule_texts.classic import HBM_INITIAL_VALUE
from nkijit.language.tensors import allocate, checked_dims
from nkijit.names import as_dtype
from nkijit.tensor import NkiTensor
from nkijit.tracer import tracer_for

sbuf = MemoryRegion.sbuf
psum = MemoryRegion.psum
private_hbm = MemoryRegion.private_hbm
shared_hbm = MemoryRegion.shared_hbm
hbm = private_hbm


class par_dim(int):
    """Marks the partition dimension of a shape: `nl.ndarray((4, nl.par_dim(128), 512), …)`.

    Dimensions in front of it are block dimensions. Source: NKI API reference 2.26,
    nki.language.par_dim.
    """


def _new(
    call: str, shape: Any, dtype: Any, buffer: Any, name: str, put: Callable[[Tile], None] | None
) -> Tensor:
    """Allocate a tensor, one tile for each block, and let `put` fill each of them."""
    region, placement = as_buffer(buffer)
    if places_automatically():
        placement = None
    dims = checked_dims(tracer_for(call), call, shape)
    given = cast("tuple[Any, ...]", shape if isinstance(shape, (tuple, list)) else (shape,))
    at = next((i for i, n in enumerate(given) if isinstance(n, par_dim)), 0)
    on_chip = region in (sbuf, psum)
    blocks = dims[:at] if on_chip else ()
    tile_shape = dims[len(blocks) :]
    tiles: list[Tile] = []
    for index in product(*map(range, blocks)):
        address = None
        if placement is not None:
            size = prod(tile_shape[1:]) * as_dtype(dtype).itemsize
            address = placement.address(call, index, tile_shape[0], size)
        tile = Tile(_allocated(call, tile_shape, dtype, region, name, address))
        if put is not None:
            put(tile)
        tiles.append(tile)
    return Blocks(blocks, tiles) if blocks else tiles[0]


def _allocated(
    call: str, shape: tuple[int, ...], dtype: Any, region: Any, name: str, address: Any
) -> NkiTensor:
    """Allocate; tensors in shared HBM are the same for all instances of a grid."""
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


def ndarray(shape: Any, dtype: Any, *, buffer: Any = None, name: str = "") -> Tensor:
    """Allocate a tensor; its contents are undefined.

    Args:
        shape: dimensions; `nl.par_dim(n)` marks the partition dimension, else it is the first.
        dtype: data type of an element.
        buffer: `nl.sbuf` (the default), `nl.psum`, `nl.hbm`, `nl.shared_hbm`, or what
            `nki.compiler.sbuf` and `.psum` make.
        name: the tensor's name; by default the variable it is assigned to.

    Source: NKI API reference 2.26, nki.language.ndarray.
    """
    return _new("nl.ndarray", shape, dtype, buffer, name, None)


def full(shape: Any, fill_value: Any, dtype: Any, *, buffer: Any = None, name: str = "") -> Tensor:
    """Allocate a tile and fill it with a number; arguments as `ndarray`.

    Source: NKI API reference 2.26, nki.language.full.
    """
    return _filled("nl.full", shape, fill_value, dtype, buffer, name)


def zeros(shape: Any, dtype: Any, *, buffer: Any = None, name: str = "") -> Tensor:
    """Allocate a tile of zeros; arguments as `ndarray`.

    Source: NKI API reference 2.26, nki.language.zeros.
    """
    return _filled("nl.zeros", shape, 0, dtype, buffer, name)


def ones(shape: Any, dtype: Any, *, buffer: Any = None, name: str = "") -> Tensor:
    """Allocate a tile of ones; arguments as `ndarray`.

    Source: NKI API reference 2.26, nki.language.ones.
    """
    return _filled("nl.ones", shape, 1, dtype, buffer, name)


def _filled(call: str, shape: Any, value: Any, dtype: Any, buffer: Any, name: str) -> Tensor:
    if buffer in (hbm, shared_hbm):
        tracer_for(call).fail(
            HBM_INITIAL_VALUE, call, f"a tensor in {buffer.value} with an initial value"
        )
    return _new(call, shape, dtype, buffer, name, lambda tile: fill(tile.whole(), value))


def empty_like(a: Any, dtype: Any = None, *, buffer: Any = None, name: str = "") -> Tensor:
    """Allocate a tensor of the shape of `a`; other arguments as `ndarray`.

    Source: NKI API reference 2.26, nki.language.empty_like.
    """
    like = as_tensor("nl.empty_like", "a", a)
    return _new("nl.empty_like", like.shape, dtype or like.dtype, buffer, name, None)


def zeros_like(a: Any, dtype: Any = None, *, buffer: Any = None, name: str = "") -> Tensor:
    """Allocate a tile of zeros of the shape of `a`; other arguments as `ndarray`.

    Source: NKI API reference 2.26, nki.language.zeros_like.
    """
    like = as_tensor("nl.zeros_like", "a", a)
    return _filled("nl.zeros_like", like.shape, 0, dtype or like.dtype, buffer, name)


def shared_constant(constant: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
    """A tensor of constant data in HBM. Source: NKI API reference 2.26, shared_constant."""
    return Tile(current.shared_constant(constant, *(() if dtype is None else (dtype,)), **kwargs))


def shared_identity_matrix(n: int, dtype: Any = "uint8", **kwargs: Any) -> Tensor:
    """The identity matrix in HBM. Source: NKI API reference 2.26, shared_identity_matrix."""
    return Tile(current.shared_identity_matrix(n, dtype, **kwargs))


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
