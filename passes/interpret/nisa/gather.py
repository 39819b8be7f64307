"""What moves between partitions and by index do."""

from __future__ import annotations

import numpy as np

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
from nkijit.dialects.tiles import TileInfo
from nkijit.passes.interpret.binding import Binding
from nkijit.passes.interpret.environment import Array, Env
from nkijit.passes.interpret.errors import failure
from nkijit.passes.interpret.parts import Mask, Values, first_elements, part, rows_of
from nkijit.passes.interpret.records import Gather, MoveRows, Opaque
from nkijit.passes.interpret.registry import semantics


@semantics(NcStreamShuffleOp)
def nc_stream_shuffle(b: Binding) -> MoveRows:
    dst = b.tile("dst")
    taken = shuffled_rows(b.value("shuffle_mask"), dst.partitions)
    source = b.read("src", (b.tile("src").partitions, *dst.shape[1:]), raw=True)
    return MoveRows(source, taken, b.as_stored())


def _check_range(b: Binding, name: str, indices: Array, end: int) -> None:
    """Refuse indices from `end` on, which the documents leave undefined."""
    if indices.max() < end:
        return
    partition, position = (int(where) for where in np.argwhere(indices >= end)[0])
    raise failure(
        b.op,
        f"'{name}' holds {indices[partition, position]} in partition {partition} of the tile "
        f"(element {position}); legal are 0 to {end - 1}",
    )


@semantics(LocalGatherOp)
def local_gather(b: Binding) -> Opaque:
    group, width = PARTITIONS_PER_GPSIMD_CORE, int(b.value("num_elem_per_idx"))
    source, index = b.reader("src_buffer", raw=True), b.reader("index", raw=True)
    dst, count = b.tile("dst"), valid_indices(b.op)
    assert count is not None
    target = b.as_stored().slot
    end = b.tile("src_buffer").free_size - width + 1
    elements = np.arange(width)
    used = np.arange(b.tile("index").free_size) * group + np.arange(group)[:, None] < count
    used = np.tile(used, (dst.partitions // group, 1))

    def step(env: Env) -> None:
        data, indices = source(env), index(env)
        _check_range(b, "index", np.where(used, indices, 0), end)
        gathered = np.empty((dst.partitions, count * width), data.dtype)
        for first in gpsimd_cores(dst.partitions):
            core = slice(first, first + group)
            starts = indices[core].T.reshape(-1)[:count].astype(np.intp)
            positions = (starts[:, None] + elements).reshape(-1)
            data[core].take(positions, axis=1, out=gathered[core], mode="clip")
        env[target][...] = gathered.reshape(dst.shape)

    return Opaque(step)


@semantics(NcNGatherOp)
def nc_n_gather(b: Binding) -> Gather:
    end = b.tile("data").free_size

    def check(indices: Array) -> None:
        _check_range(b, "indices", indices, end)

    return Gather(b.read("data", raw=True), b.read("indices", raw=True), b.as_stored(), check)


# ------------------------------------------------------------------ operands touched in part


@part(NcStreamShuffleOp, "dst")
def _shuffled_into(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return rows_of(tile, list(shuffled_rows(op.value_of("shuffle_mask"), tile.partitions)))


@part(NcStreamShuffleOp, "src")
def _shuffled_from(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    taken = shuffled_rows(op.value_of("shuffle_mask"), required_tile(op, "dst").partitions)
    return rows_of(tile, list(taken.values()))


@part(NcNGatherOp, "data")
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
    return first_elements(tile, count).reshape(tile.partitions, -1)


@part(LocalGatherOp, "index")
def _indices_used(op: NisaOp, tile: TileInfo, values: Values) -> Mask:
    return _used_indices(op, tile).reshape(tile.shape)


@part(LocalGatherOp, "src_buffer")
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
