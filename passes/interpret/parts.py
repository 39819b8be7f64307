"""Which elements instructions touch of the operands that they may touch in part (`partial`).

A function per operand, attached from outside as semantics are. It sees the values that the
other operands hold now and says, element by element of the tile, what the instruction touches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import required_tile
from nkijit.dialects.hardware.targets import PARTITIONS_PER_GPSIMD_CORE, gpsimd_cores
from nkijit.dialects.nisa.gather import (
    LocalGatherOp,
    NcNGatherOp,
    NcStreamShuffleOp,
    shuffled_rows,
    valid_indices,
)
from nkijit.dialects.nisa.mx import NcMatmulMxOp, QuantizeMxOp, scale_rows
from nkijit.dialects.nisa.search import NonzeroWithCountOp, TopkOp
from nkijit.dialects.nisa.select import TensorCopyPredicatedOp
from nkijit.dialects.tiles import TileInfo
from nkijit.passes.interpret.environment import Array

Mask = npt.NDArray[np.bool_]
Values = Callable[[str], Array]
"""The values of another operand, in the shape of its tile."""
Part = Callable[[NisaOp, TileInfo, Values], Mask]

_PARTS: dict[tuple[type[NisaOp], str], Part] = {}
_P = TypeVar("_P", bound=Part)


def part_of(op: NisaOp, name: str, tile: TileInfo, values: Values) -> Mask | None:
    """Which elements of an operand an instruction touches; None when nothing is known."""
    part = _PARTS.get((type(op), name))
    return None if part is None else part(op, tile, values)


def _part(op_class: type[NisaOp], *names: str) -> Callable[[_P], _P]:
    def register(function: _P) -> _P:
        for name in names:
            _PARTS[op_class, name] = function
        return function

    return register


def _rows(tile: TileInfo, rows: list[int]) -> Mask:
    mask = np.zeros(tile.shape, np.bool_)
    mask[rows] = True
    return mask


@_part(TensorCopyPredicatedOp, "dst")
def _where_predicate_holds(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    nonzero = values("predicate").reshape(tile.shape) != 0
    return np.asarray(nonzero != op.value_of("reverse_pred"), np.bool_)


@_part(NcStreamShuffleOp, "dst")
def _shuffled_into(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return _rows(tile, list(shuffled_rows(op.value_of("shuffle_mask"), tile.partitions)))


@_part(NcStreamShuffleOp, "src")
def _shuffled_from(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    taken = shuffled_rows(op.value_of("shuffle_mask"), required_tile(op, "dst").partitions)
    return _rows(tile, list(taken.values()))


@_part(NcNGatherOp, "data")
def _gathered(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    mask = np.zeros((tile.partitions, tile.free_size), np.bool_)
    indices = values("indices").reshape(tile.partitions, -1).astype(np.int64)
    lanes = np.arange(tile.partitions)[:, None]
    mask[lanes, np.minimum(indices, tile.free_size - 1)] = True
    return mask.reshape(tile.shape)


def _used_indices(op: NisaOp, tile: TileInfo) -> Mask:
    """Those of the first indices of each GpSimd core, which go down its partitions first."""
    count = valid_indices(op)
    assert count is not None
    return _first_elements(tile, count).reshape(tile.partitions, -1)


@_part(LocalGatherOp, "index")
def _indices_used(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return _used_indices(op, tile).reshape(tile.shape)


@_part(LocalGatherOp, "src_buffer")
def _locally_gathered(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    width = op.value_of("num_elem_per_idx")
    used = _used_indices(op, required_tile(op, "index"))
    indices = values("index").reshape(used.shape).astype(np.int64)
    mask = np.zeros((tile.partitions, tile.free_size), np.bool_)
    for first in gpsimd_cores(tile.partitions):
        core = slice(first, first + PARTITIONS_PER_GPSIMD_CORE)
        for start in indices[core][used[core]]:
            mask[core, start : start + width] = True
    return mask.reshape(tile.shape)


@_part(NonzeroWithCountOp, "src", "dst")
def _first_of_each_core(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return _rows(tile, list(gpsimd_cores(tile.partitions)))


@_part(TopkOp, "src")
def _searched(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return _first_elements(tile, op.value_of("n"))


@_part(TopkOp, "val_dst", "idx_dst")
def _found(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return _first_elements(tile, tile.free_size)


def _first_elements(tile: TileInfo, count: int) -> Mask:
    """The first elements of every 16 partitions, down the partitions first."""
    group = PARTITIONS_PER_GPSIMD_CORE
    number = np.arange(tile.free_size) * group + np.arange(group)[:, None]
    return np.tile(number < count, (tile.partitions // group, 1)).reshape(tile.shape)


@_part(QuantizeMxOp, "dst_scale")
def _scales_written(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return _rows(tile, scale_rows(required_tile(op, "src").partitions))


@_part(NcMatmulMxOp, "stationary_scale")
def _stationary_scales(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return _scales_read(op, tile, "stationary")


@_part(NcMatmulMxOp, "moving_scale")
def _moving_scales(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return _scales_read(op, tile, "moving")


def _scales_read(op: NisaOp, tile: TileInfo, scaled: str) -> Mask:
    return _rows(tile, scale_rows(required_tile(op, scaled).partitions))
