"""Reading and writing the operands of an instruction with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nkijit.passes.interpret.records.environment import Env, Slots, Step
from nkijit.passes.interpret.records.records import Destination, Source
from nkijit.passes.numerics.storage import loader, rounder

Read = Callable[[Env], Any]
"""Returns the values of an operand in the environment of a run."""

FLOAT32 = np.dtype(np.float32)


def is_direct(source: Source, slots: Slots) -> bool:
    """True if an operand's values in the environment can be used without conversion."""
    if source.reshape is not None or source.lanes is not None:
        return False
    return source.dtype is None or loader(source.dtype, slots.precise) is None


def reader(source: Source, slots: Slots) -> Read:
    """Return a function that reads an operand, as float32 if the source says so, else as stored."""
    slot, shape, lanes = source.slot, source.reshape, source.lanes
    load = None if source.dtype is None else loader(source.dtype, slots.precise)
    if shape is not None:
        if load is None:
            return lambda env: env[slot].reshape(shape)
        return lambda env: load(env[slot].reshape(shape))
    if lanes is not None:
        return lambda env: env[slot][lanes]
    if load is None:
        return lambda env: env[slot]
    return lambda env: load(env[slot])


def store(slot: int, into: Destination, slots: Slots) -> Step:
    """Return a step that rounds the float32 values of a slot into a tile."""
    round_into, index, reshape = rounder(into.dtype, slots.precise), into.slot, into.reshape
    if reshape is None:
        return lambda env: round_into(env[index], env[slot])
    return lambda env: round_into(env[index], env[slot].reshape(reshape))


def put(into: Destination) -> Callable[[Env, Any], None]:
    """Return a function that writes stored values into a tile, reshaped if necessary."""
    index = into.slot

    def write(env: Env, values: Any) -> None:
        written = env[index]
        written[...] = values.view(written.dtype).reshape(written.shape)

    return write


def holds_float32(into: Destination, slots: Slots) -> bool:
    """True if float32 results can be written to a tile without rounding."""
    # tfloat32 is stored as float32 but must be rounded.
    return slots.stored(into.dtype) == FLOAT32 and into.dtype.name != "tfloat32"
