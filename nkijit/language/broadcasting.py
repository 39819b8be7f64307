"""Broadcasting of tiles: free dimensions by a view, the partition dimension in a new tile.

The partition dimension needs a new tile because no access pattern on chip repeats a partition.
"""

from __future__ import annotations

import math

from nkijit import isa
from nkijit.dialects.declare.rules.shape_helps import for_shapes
from nkijit.dialects.hardware.targets import start_partitions
from nkijit.dialects.hardware.words import MemoryRegion, engine
from nkijit.dialects.nisa.matmul import input_dtypes
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.language.tiles import in_sbuf, temporary
from nkijit.tracing.tensor import NkiTensor, first_partition, with_shape
from nkijit.tracing.tracer import tracer_for


def broadcast_shape(call: str, **tiles: NkiTensor) -> tuple[int, ...]:
    """Return the broadcast shape of tiles by NumPy's rules.

    The tiles must have the same number of dimensions.
    """
    shapes = [tile.shape for tile in tiles.values()]
    together = tuple(_together(dims) for dims in zip(*shapes, strict=False))
    for shape in shapes:
        legal = len(shape) == len(together) == len(shapes[0])
        if not legal or any(n not in (1, m) for n, m in zip(shape, together, strict=True)):
            listed = ", ".join(f"'{name}' has {tile.shape}" for name, tile in tiles.items())
            tracer_for(call).fail(
                ARGUMENT,
                call,
                f"shapes that do not broadcast: {listed}",
                for_shapes({name: tile.shape for name, tile in tiles.items()}),
            )
    return together


def _together(sizes: tuple[int, ...]) -> int:
    """Return the size that a dimension of several tiles is broadcast to: one that is not 1."""
    return next((size for size in sizes if size != 1), 1)


def broadcast_view(tile: NkiTensor, shape: tuple[int, ...], dtype: str = "") -> NkiTensor:
    """Return the tile, broadcast to a shape that `broadcast_shape` has returned.

    `dtype`: the data type of a new tile, if the partition dimension needs one. Callers that convert
    the result anyway can pass its final data type.
    """
    if 0 in shape:
        return with_shape(tile, shape)
    if tile.shape[0] != shape[0]:
        tile = _in_every_partition(in_sbuf(tile), shape[0], dtype or tile.dtype)
    for dim, size in enumerate(shape):
        if tile.shape[dim] != size:
            tile = tile.broadcast(dim, size)
    return tile


def _in_every_partition(row: NkiTensor, partitions: int, dtype: str) -> NkiTensor:
    """Return a new SBUF tile in which every partition is a copy of `row`, a tile of one partition.

    The Tensor Engine multiplies the row by ones, as NKI does (architecture guide of trn1, Tensor
    Engine). As in any sum of products, -0.0 becomes 0.0. If the engine does not multiply the data
    type, or if no matmul can begin at the row's partition, the row is copied to HBM and back with a
    stride of 0.
    """
    begins_well = first_partition(row) in start_partitions(row.shape[0])
    multiplies = begins_well and row.dtype in input_dtypes(row.storage.tracer.target)
    shape = (partitions, *row.shape[1:])
    rows = temporary(f"{row.name}_rows", shape, dtype if multiplies else row.dtype)
    if multiplies:
        _multiply_by_ones(row, rows)
    else:
        _copy_through_hbm(row, rows)
    return rows


def _multiply_by_ones(row: NkiTensor, rows: NkiTensor) -> None:
    most = row.storage.tracer.target.gemm_moving_fmax
    partitions = rows.shape[0]
    ones = temporary("ones", (1, partitions), row.dtype)
    isa.memset(ones, 1.0, engine=engine.gpsimd)  # the engine with the least other work
    source, wide = _flat(row), _flat(rows)
    columns = source.shape[1]
    for start in range(0, columns, most):
        piece = slice(start, min(start + most, columns))
        shape = (partitions, piece.stop - start)
        product = temporary(f"{row.name}_product", shape, region=MemoryRegion.psum)
        moving = source[:, piece]
        isa.nc_matmul(product, ones, moving, is_stationary_onezero=True, accumulate=False)
        isa.tensor_copy(wide[:, piece], product)


def _flat(tile: NkiTensor) -> NkiTensor:
    """Return the tile with its free dimensions flattened to one: a view, else a copy."""
    if tile.ndim == 2 and not tile.is_indirect():
        return tile
    if tile.is_indirect() or not tile.is_contiguous():
        copied = temporary(f"{tile.name}_flat", tile.shape, tile.dtype)
        isa.tensor_copy(copied, tile)
        tile = copied
    return tile.reshape((tile.shape[0], math.prod(tile.shape[1:])))


def _copy_through_hbm(row: NkiTensor, rows: NkiTensor) -> None:
    outside = temporary(f"{row.name}_row", row.shape, row.dtype, MemoryRegion.private_hbm)
    isa.dma_copy(outside, row)
    isa.dma_copy(rows, outside.broadcast(0, rows.shape[0]))
