"""What MX instructions compute: scaled float8 and float4 values, four to an x4 element."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import ml_dtypes
import numpy as np

from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.nisa.mx import (
    ELEMENT_TYPES,
    GROUP_PARTITIONS,
    MAX_EXPONENTS,
    PACKED,
    NcMatmulMxOp,
    QuantizeMxOp,
    scale_rows,
)
from nkijit.passes.interpret.binding import Array, Binding, Env, Step, semantics
from nkijit.passes.interpret.casts import float8_loader
from nkijit.passes.interpret.nisa.matmul import accumulating
from nkijit.passes.interpret.numerics import STORAGE, rounder

_MANTISSA_BITS = 23
_LARGEST_EXPONENT = 254
"""The exponent field of the largest float32; that of infinity and NaN is one more."""


# ------------------------------------------------------------------ nc_matmul_mx


def _unpacker(dtype: str) -> Callable[[Array], Array]:
    """What turns the bytes of x4 elements into the float32 values in them, in order of address."""
    element = ELEMENT_TYPES[dtype]
    if element in STORAGE:
        return float8_loader(STORAGE[element])
    table = _float4_pairs()
    return lambda array: table.take(array, axis=0, mode="wrap")


@cache
def _float4_pairs() -> Array:
    """The two float4 values in every byte, that of the low half first."""
    every = np.arange(1 << 8, dtype=np.uint8)
    return np.stack([every & 0xF, every >> 4], 1).view(ml_dtypes.float4_e2m1fn).astype(np.float32)


def _dequantized(b: Binding, name: str) -> Callable[[Env], Array]:
    """The values of an x4 operand times their scales, as (partitions, x4 elements, 4)."""
    data = b.tile(name)
    rows = scale_rows(data.partitions)
    groups = (len(rows), GROUP_PARTITIONS, data.free_size, PACKED)
    unpack, packed = _unpacker(data.dtype.name), b.read(name, raw=True)
    # A byte of scale is a float8_e8m0fnu, of whichever type the tile is.
    load_scale = float8_loader(STORAGE["float8_e8m0fnu"])
    scale = b.read(f"{name}_scale", raw=True)

    def dequantize(env: Env) -> Array:
        elements = np.ascontiguousarray(packed.read(env))
        values = unpack(elements.view(np.uint8)).reshape(groups)
        scales = load_scale(scale.read(env)[rows])
        np.multiply(values, scales[:, np.newaxis, :, np.newaxis], values)
        return values.reshape(data.partitions, data.free_size, PACKED)

    return dequantize


@semantics(NcMatmulMxOp)
def nc_matmul_mx(b: Binding) -> Step:
    stationary, moving = _dequantized(b, "stationary"), _dequantized(b, "moving")
    columns, width = b.tile("stationary").free_size, b.tile("moving").free_size

    def multiply(env: Env, out: Array) -> None:
        left = stationary(env).transpose(1, 0, 2).reshape(columns, -1)
        right = moving(env).transpose(0, 2, 1).reshape(-1, width)
        np.matmul(left, right, out)

    return accumulating(b, multiply)


# ------------------------------------------------------------------ quantize_mx


@semantics(QuantizeMxOp)
def quantize_mx(b: Binding) -> Step:
    packed_type = b.dtype("dst").name
    element = ELEMENT_TYPES[packed_type]
    stored, round_into = STORAGE[element], rounder(DTYPES[element])
    largest = np.float32(np.ldexp(1.75, MAX_EXPONENTS[packed_type]))
    # Divided by the scale, the largest of a group has the exponent before the largest.
    margin = MAX_EXPONENTS[packed_type] - 1
    src, dst, dst_scale = b.tile("src"), b.tile("dst"), b.tile("dst_scale")
    source = b.read("src")
    packed = b.read("dst", dst.shape, raw=True).slot
    scale = b.read("dst_scale", dst_scale.shape, raw=True).slot
    rows = scale_rows(src.partitions)
    groups = (len(rows), GROUP_PARTITIONS, dst.free_size, PACKED)
    scale_shape = (len(rows), *dst_scale.shape[1:])

    def step(env: Env) -> None:
        values = source.read(env)
        exponents = _largest_exponents(values, groups)
        scales = np.maximum(exponents - margin, 0)
        inverse = ((_LARGEST_EXPONENT - scales) << _MANTISSA_BITS).view(np.float32)
        quotients = values.reshape(groups) * inverse[:, np.newaxis, :, np.newaxis]
        if exponents.max() > _LARGEST_EXPONENT:
            np.clip(quotients, -largest, largest, out=quotients)
        quantized = np.empty((src.partitions, src.free_size), stored)
        round_into(quantized, quotients.reshape(quantized.shape))
        env[packed][...] = quantized.view(env[packed].dtype).reshape(dst.shape)
        env[scale].view(np.uint8)[rows] = scales.astype(np.uint8).reshape(scale_shape)

    return step


def _largest_exponents(values: Array, groups: tuple[int, ...]) -> Array:
    """The exponent field of the largest magnitude in each group, whose bits are in that order."""
    bits = np.bitwise_and(values.view(np.int32), 0x7FFF_FFFF)
    return np.right_shift(bits.reshape(groups).max(axis=(1, 3)), _MANTISSA_BITS)
