"""Masks of the accessed elements, for operands with partial effects (`Effect.partial`).

A function for each operand, registered with `@part`, gets the known values of other operands, and
returns a mask of the tile's elements.
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

Mask = npt.NDArray[np.bool_]
Values = Callable[[str], "npt.NDArray[np.generic] | None"]
"""Returns the values of another operand, in the shape of its tile; None before a run."""
Part = Callable[[NisaOp, TileInfo, Values], "Mask | None"]

_PARTS: dict[tuple[type[NisaOp], str], Part] = {}
_P = TypeVar("_P", bound=Part)


def part_of(op: NisaOp, name: str, tile: TileInfo, values: Values) -> Mask | None:
    """Return which elements of an operand an instruction accesses; None if unknown."""
    touched = _PARTS.get((type(op), name))
    return None if touched is None else touched(op, tile, values)


def part(op_class: type[NisaOp], *names: str) -> Callable[[_P], _P]:
    """Register a function that computes the accessed elements of an instruction's operands."""

    def register(function: _P) -> _P:
        for name in names:
            _PARTS[op_class, name] = function
        return function

    return register


def _rows_of(tile: TileInfo, rows: list[int]) -> Mask:
    mask = np.zeros(tile.shape, np.bool_)
    mask[rows] = True
    return mask


def first_elements(tile: TileInfo, count: int) -> Mask:
    """Return a mask of the first elements of every 16 partitions.

    The partition is the fastest index.
    """
    group = PARTITIONS_PER_GPSIMD_CORE
    number = np.arange(tile.free_size) * group + np.arange(group)[:, None]
    return np.tile(number < count, (tile.partitions // group, 1)).reshape(tile.shape)


# ------------------------------------------------------------------ selections


@part(TensorCopyPredicatedOp, "dst")
def _where_predicate_holds(op: NisaOp, tile: TileInfo, values: Values) -> Mask | None:
    predicate = values("predicate")
    if predicate is None:
        return None
    nonzero = predicate.reshape(tile.shape) != 0
    return np.asarray(nonzero != op.value_of("reverse_pred"), np.bool_)


# ------------------------------------------------------------------ gathers


@part(NcStreamShuffleOp, "dst")
def _shuffled_into(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return _rows_of(tile, list(shuffled_rows(op.value_of("shuffle_mask"), tile.partitions)))


@part(NcStreamShuffleOp, "src")
def _shuffled_from(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    taken = shuffled_rows(op.value_of("shuffle_mask"), required_tile(op, "dst").partitions)
    return _rows_of(tile, list(taken.values()))


@part(NcNGatherOp, "data")
def _gathered(op: NisaOp, tile: TileInfo, values: Values) -> Mask | None:
    index_values = values("indices")
    if index_values is None:
        return None
    mask = np.zeros((tile.partitions, tile.free_size), np.bool_)
    indices = index_values.reshape(tile.partitions, -1).astype(np.int64)
    lanes = np.arange(tile.partitions)[:, None]
    mask[lanes, np.minimum(indices, tile.free_size - 1)] = True
    return mask.reshape(tile.shape)


def used_indices(op: NisaOp, tile: TileInfo) -> Mask:
    """Return a mask of the indices that `local_gather` uses.

    Each GpSimd core uses the first indices of its partitions; the partition is the fastest index.
    """
    count = valid_indices(op)
    assert count is not None
    return first_elements(tile, count).reshape(tile.partitions, -1)


@part(LocalGatherOp, "index")
def _indices_used(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return used_indices(op, tile).reshape(tile.shape)


@part(LocalGatherOp, "src_buffer")
def _locally_gathered(op: NisaOp, tile: TileInfo, values: Values) -> Mask | None:
    index_values = values("index")
    if index_values is None:
        return None
    width = op.value_of("num_elem_per_idx")
    used = used_indices(op, required_tile(op, "index"))
    indices = index_values.reshape(used.shape).astype(np.int64)
    mask = np.zeros((tile.partitions, tile.free_size), np.bool_)
    for first in gpsimd_cores(tile.partitions):
        core = slice(first, first + PARTITIONS_PER_GPSIMD_CORE)
        for start in indices[core][used[core]]:
            mask[core, start : start + width] = True
    return mask.reshape(tile.shape)


# ------------------------------------------------------------------ searches


@part(NonzeroWithCountOp, "src", "dst")
def _first_of_each_core(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return _rows_of(tile, list(gpsimd_cores(tile.partitions)))


@part(TopkOp, "src")
def _searched(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return first_elements(tile, op.value_of("n"))


@part(TopkOp, "val_dst", "idx_dst")
def _found(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return first_elements(tile, tile.free_size)


# ------------------------------------------------------------------ MX


@part(QuantizeMxOp, "dst_scale")
def _scales_written(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return _rows_of(tile, scale_rows(required_tile(op, "src").partitions))


@part(NcMatmulMxOp, "stationary_scale")
def _stationary_scales(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return _scales_read(op, tile, "stationary")


@part(NcMatmulMxOp, "moving_scale")
def _moving_scales(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return _scales_read(op, tile, "moving")


def _scales_read(op: NisaOp, tile: TileInfo, scaled: str) -> Mask:
    return _rows_of(tile, scale_rows(required_tile(op, scaled).partitions))
