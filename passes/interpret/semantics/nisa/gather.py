"""Semantics of moves between partitions and by index."""

from __future__ import annotations

import numpy as np

from nkijit.dialects.hardware.targets import PARTITIONS_PER_GPSIMD_CORE, gpsimd_cores
from nkijit.dialects.nisa.gather import (
    LocalGatherOp,
    NcNGatherOp,
    NcStreamShuffleOp,
    shuffled_rows,
    valid_indices,
)
from nkijit.dialects.rule_texts.access import INDEX_BOUNDS
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.bounds import beyond, numbers_wanted
from nkijit.passes.interpret.records.environment import Array, Env
from nkijit.passes.interpret.records.errors import FoundError
from nkijit.passes.interpret.records.records import Gather, MoveRows, Opaque, Reach
from nkijit.passes.interpret.semantics.nisa.described import declared
from nkijit.passes.interpret.semantics.registry import semantics


@semantics(NcStreamShuffleOp)
def nc_stream_shuffle(b: Binding) -> MoveRows:
    dst = b.tile("dst")
    taken = shuffled_rows(b.value("shuffle_mask"), dst.partitions)
    source = b.read("src", (b.tile("src").partitions, *dst.shape[1:]), raw=True)
    return MoveRows(source, taken, b.as_stored())


def _check_range(
    b: Binding, name: str, indices: Array, end: int, used: Array | bool = True
) -> None:
    """Raise an error for used indices of `end` or more, which the documents leave undefined."""
    if indices.max(where=used, initial=0) < end:
        return
    used = np.broadcast_to(used, indices.shape)
    index = indices[used]
    tile = b.operand(name)
    row, column = np.nonzero(used)
    text = beyond(tile, (row, column), index, index >= end, end)
    finding = diagnose(
        INDEX_BOUNDS,
        b.op,
        f"'{name}' is out of bounds: {text}",
        [(name, tile)],
        help=numbers_wanted(tile, b.op, end),
    )
    raise FoundError(finding)


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
        _check_range(b, "index", indices, end, used)
        gathered = np.empty((dst.partitions, count * width), data.dtype)
        for first in gpsimd_cores(dst.partitions):
            core = slice(first, first + group)
            starts = indices[core].T.reshape(-1)[:count].astype(np.intp)
            positions = (starts[:, None] + elements).reshape(-1)
            data[core].take(positions, axis=1, out=gathered[core], mode="clip")
        env[target][...] = gathered.reshape(dst.shape)

    sources = (b.read("src_buffer", raw=True), b.read("index", raw=True))
    return Opaque(step, declared(b, Reach.tiles, sources, b.as_stored()))


@semantics(NcNGatherOp)
def nc_n_gather(b: Binding) -> Gather:
    end = b.tile("data").free_size

    def check(indices: Array) -> None:
        _check_range(b, "indices", indices, end)

    return Gather(b.read("data", raw=True), b.read("indices", raw=True), b.as_stored(), check)
