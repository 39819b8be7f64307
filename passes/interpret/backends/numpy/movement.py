"""Copies, fills, transposes and gathers."""

from __future__ import annotations

import numpy as np

from nkijit.passes.interpret.records.environment import Env, Slots, Step
from nkijit.passes.interpret.records.operands import is_direct, reader, store
from nkijit.passes.interpret.records.records import Copy, Fill, Gather, MoveRows, Transpose


def bind_copy(record: Copy, slots: Slots) -> Step:
    """Return the step of a copy: of stored bits, or of values rounded to another data type."""
    read, into = reader(record.source, slots), record.into
    if record.source.dtype is not None:
        # Loading makes a new float32 array, so source and destination may overlap.
        scratch = slots.scratch_of(into.shape)
        round_values = store(scratch, into, slots)

        def convert(env: Env) -> None:
            env[scratch][...] = read(env)
            round_values(env)

        return convert
    index = into.slot
    if is_direct(record.source, slots):
        slot = record.source.slot
        return lambda env: np.copyto(env[index], env[slot])
    return lambda env: np.copyto(env[index], read(env))


def bind_fill(record: Fill, slots: Slots) -> Step:
    """Return the step of a fill."""
    index, values = record.into.slot, record.values
    return lambda env: np.copyto(env[index], values)


def bind_transpose(record: Transpose, slots: Slots) -> Step:
    """Return the step of a transpose; NumPy buffers the copy if the tiles share memory."""
    read, index, axes, valid = (
        reader(record.source, slots),
        record.into.slot,
        record.axes,
        record.valid,
    )
    if valid is not None:

        def gather(env: Env) -> None:
            # Rows become the last dimension; the destination stays unchanged for rows out of
            # bounds.
            rows = env[valid]
            moved = read(env).transpose(axes)
            np.copyto(env[index], moved, where=True if rows is None else rows)

        return gather

    def step(env: Env) -> None:
        written = env[index]
        written[...] = read(env).transpose(axes).reshape(written.shape)

    return step


def bind_gather(record: Gather, slots: Slots) -> Step:
    """Return the step of a gather."""
    data, numbers = reader(record.data, slots), reader(record.indices, slots)
    index, check = record.into.slot, record.check
    tile = record.data.tile
    assert tile is not None
    # One take over all partitions is several times faster than one per partition.
    first = np.arange(tile.info.partitions)[:, None] * tile.info.free_size

    def step(env: Env) -> None:
        indices = numbers(env)
        check(indices)
        gathered = data(env).reshape(-1).take(indices + first, mode="clip")
        written = env[index]
        written[...] = gathered.reshape(written.shape)

    return step


def bind_move_rows(record: MoveRows, slots: Slots) -> Step:
    """Return the step that moves rows of one tile to rows of another."""
    read, index = reader(record.source, slots), record.into.slot
    into, out_of = (np.array(list(rows), np.intp) for rows in (record.rows, record.rows.values()))

    def step(env: Env) -> None:
        env[index][into] = read(env)[out_of]

    return step
