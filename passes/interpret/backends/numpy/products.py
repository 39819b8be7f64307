"""Matrix products."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import ml_dtypes
import numpy as np

from nkijit.dialects.nisa.mx import GROUP_PARTITIONS, PACKED, scale_rows
from nkijit.passes.interpret.records.environment import Array, Env, Slots, Step
from nkijit.passes.interpret.records.operands import reader, store
from nkijit.passes.interpret.records.records import Matmul, Scaled, Source
from nkijit.passes.numerics.casts import float8_loader
from nkijit.passes.numerics.storage import STORAGE


def bind_matmul(record: Matmul, slots: Slots) -> Step:
    """Return the step of a product: multiply in float32, add previous contents, and round."""
    multiply = _product(record.stationary, record.moving, slots)
    product = slots.scratch_of(record.into.shape)
    round_product = store(product, record.into, slots)
    added = record.added
    if record.previous is None:

        def overwrite(env: Env) -> None:
            multiply(env, env[product])
            round_product(env)

        return overwrite
    previous = reader(record.previous, slots)

    def add(env: Env) -> None:
        out = env[product]
        multiply(env, out)
        np.add(out, previous(env), out, where=added)
        round_product(env)

    return add


def _product(
    stationary: Source | Scaled, moving: Source | Scaled, slots: Slots
) -> Callable[[Env, Array], None]:
    if isinstance(stationary, Scaled):
        assert isinstance(moving, Scaled)
        weights, values = _dequantized(stationary, slots), _dequantized(moving, slots)
        columns, width = stationary.free_size, moving.free_size

        def multiply_mx(env: Env, out: Array) -> None:
            left = weights(env).transpose(1, 0, 2).reshape(columns, -1)
            right = values(env).transpose(0, 2, 1).reshape(-1, width)
            np.matmul(left, right, out)

        return multiply_mx
    assert isinstance(moving, Source)
    left, right = reader(stationary, slots), reader(moving, slots)

    def multiply(env: Env, out: Array) -> None:
        np.matmul(left(env).T, right(env), out)

    return multiply


# ------------------------------------------------------------------ MX operands


def _unpacker(element: str) -> Callable[[Array], Array]:
    """Return a function that converts packed bytes to float32 values, in order of address."""
    if element in STORAGE:
        return float8_loader(STORAGE[element])
    table = _float4_pairs()
    return lambda array: table.take(array, axis=0, mode="wrap")


@cache
def _float4_pairs() -> Array:
    """Return the two float4 values of each byte, low half first."""
    every = np.arange(1 << 8, dtype=np.uint8)
    return np.stack([every & 0xF, every >> 4], 1).view(ml_dtypes.float4_e2m1fn).astype(np.float32)


def _dequantized(operand: Scaled, slots: Slots) -> Callable[[Env], Array]:
    """Return a function that multiplies an operand's values by their scales.

    The result has the shape (partitions, stored elements, 4).
    """
    rows = scale_rows(operand.partitions)
    shape = (operand.partitions, operand.free_size, PACKED)
    groups = (len(rows), GROUP_PARTITIONS, operand.free_size, PACKED)
    unpack, packed = _unpacker(operand.element), reader(operand.data, slots)
    # A byte of scale is a float8_e8m0fnu, regardless of the tile's data type.
    load_scale = float8_loader(STORAGE["float8_e8m0fnu"])
    scale = reader(operand.scale, slots)

    def dequantize(env: Env) -> Array:
        elements = np.ascontiguousarray(packed(env))
        values = unpack(elements.view(np.uint8)).reshape(groups)
        scales = load_scale(scale(env)[rows])
        np.multiply(values, scales[:, np.newaxis, :, np.newaxis], values)
        return values.reshape(shape)

    return dequantize
