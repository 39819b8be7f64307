"""Semantics of searches."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from nkijit.dialects.hardware.targets import PARTITIONS_PER_GPSIMD_CORE, gpsimd_cores
from nkijit.dialects.nisa.search import (
    SEARCHED,
    Max8Op,
    NcFindIndex8Op,
    NcMatchReplace8Op,
    NonzeroWithCountOp,
    TopkOp,
)
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Array, Env
from nkijit.passes.interpret.records.records import Opaque, Reach
from nkijit.passes.interpret.semantics.nisa.described import declared
from nkijit.passes.interpret.semantics.registry import semantics

NOT_FOUND = -1
"""The index of a value that is not found: all bits are ones in any integer type."""


@semantics(Max8Op)
def max8(b: Binding) -> Opaque:
    read = b.reader("src")
    scratch, store = b.rounds("dst", (b.tile("dst").partitions, SEARCHED))
    first = b.tile("src").free_size - SEARCHED

    def step(env: Env) -> None:
        # In NumPy's order NaN is the largest.
        largest = np.partition(read(env), first, axis=1)[:, first:]
        largest.sort(axis=1)
        env[scratch][...] = largest[:, ::-1]
        store(env)

    into = b.into("dst", (b.tile("dst").partitions, SEARCHED))
    return Opaque(step, declared(b, Reach.rows, (b.read("src"),), into))


def _find(data: Array, values: Array, columns: Iterable[int]) -> Array:
    """Return the index of each value in its row of `data`; `NOT_FOUND` for values that are absent.

    Values are searched column by column; each element of `data` is found only once.
    """
    left = data.copy()
    rows = np.arange(len(data))
    found = np.empty(values.shape, np.intp)
    for column in columns:
        equal = left == values[:, column, None]
        index = equal.argmax(axis=1)
        hit = equal[rows, index]
        found[:, column] = np.where(hit, index, NOT_FOUND)
        left[rows[hit], index[hit]] = np.nan
    return found


@semantics(NcFindIndex8Op)
def nc_find_index8(b: Binding) -> Opaque:
    data, values = b.reader("data"), b.reader("vals")
    dst = b.as_stored().slot

    def step(env: Env) -> None:
        written = env[dst]
        found = _find(data(env), values(env), range(SEARCHED))
        written[...] = found.astype(written.dtype)

    sources = (b.read("data"), b.read("vals"))
    return Opaque(step, declared(b, Reach.rows, sources, b.as_stored()))


@semantics(NcMatchReplace8Op)
def nc_match_replace8(b: Binding) -> Opaque:
    data, values = b.reader("data"), b.reader("vals")
    scratch, store = b.rounds("dst", (b.tile("dst").partitions, b.tile("dst").free_size))
    imm = np.float32(b.value("imm"))
    has_index = b.has("dst_idx")
    indices = b.as_stored("dst_idx").slot if has_index else 0

    def step(env: Env) -> None:
        before, out = data(env), env[scratch]
        found = _find(before, values(env), reversed(range(SEARCHED)))
        out[...] = before
        rows, columns = np.nonzero(found != NOT_FOUND)
        out[rows, found[rows, columns]] = imm
        store(env)
        if has_index:
            written = env[indices]
            written[...] = found.astype(written.dtype).reshape(written.shape)

    names = ("dst", "dst_idx") if has_index else ("dst",)
    sources = (b.read("data"), b.read("vals"))
    return Opaque(step, declared(b, Reach.rows, sources, *(b.into(name) for name in names)))


@semantics(TopkOp)
def topk(b: Binding) -> Opaque:
    src, group = b.tile("src"), PARTITIONS_PER_GPSIMD_CORE
    count, n, k = src.partitions // group, b.value("n"), b.tile("val_dst").free_size
    read, raw = b.reader("src"), b.reader("src", raw=True)
    values, indices = (b.into(name).slot for name in ("val_dst", "idx_dst"))
    ranks = np.arange(k)
    column = ranks // group
    rows = np.arange(count)[:, None] * group + ranks % group

    def sequences(tile: Array) -> Array:
        return tile.reshape(count, group, -1).swapaxes(1, 2).reshape(count, -1)[:, :n]

    def step(env: Env) -> None:
        # Stable, and from the last element to the first: among equal elements the first ranks
        # highest.
        order = np.argsort(sequences(read(env))[:, ::-1], axis=1, kind="stable")
        largest = n - 1 - order[:, n - k :]
        chosen = np.take_along_axis(sequences(raw(env)), largest, axis=1)
        env[values][rows, column] = chosen
        env[indices][rows, column] = largest

    into = (b.into("val_dst"), b.into("idx_dst"))
    masks: list[Array] = []
    for each in into:
        mask = np.zeros(each.shape, np.bool_)
        mask[rows, column] = True
        masks.append(mask)
    sources = (b.read("src", raw=True),)
    return Opaque(step, declared(b, Reach.tiles, sources, *into, written=tuple(masks)))


@semantics(NonzeroWithCountOp)
def nonzero_with_count(b: Binding) -> Opaque:
    read = b.reader("src", raw=True)
    dst = b.tile("dst")
    target = b.as_stored().slot
    offset, padding = b.value("index_offset"), b.value("padding_val")
    row_shape, size = dst.shape[1:], dst.free_size
    partitions = gpsimd_cores(dst.partitions)

    def step(env: Env) -> None:
        data, written = read(env), env[target]
        for partition in partitions:
            found = np.flatnonzero(data[partition])
            row = np.full(size, padding, np.int32)
            row[: len(found)] = (found + offset).astype(np.int32)
            row[-1] = len(found)
            written[partition] = row.reshape(row_shape)

    mask = np.zeros(dst.shape, np.bool_)
    mask[partitions] = True
    sources = (b.read("src", raw=True),)
    return Opaque(step, declared(b, Reach.tiles, sources, b.as_stored(), written=(mask,)))
