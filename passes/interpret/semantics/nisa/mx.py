"""Semantics of MX instructions: scaled float8 and float4 values, four per x4 element."""

from __future__ import annotations

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
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Array, Env
from nkijit.passes.interpret.records.records import Matmul, Opaque, Reach, Scaled
from nkijit.passes.interpret.semantics.nisa.described import declared
from nkijit.passes.interpret.semantics.nisa.matmul import accumulating, added_to
from nkijit.passes.interpret.semantics.registry import semantics
from nkijit.passes.numerics.storage import STORAGE, rounder

_MANTISSA_BITS = 23
_LARGEST_EXPONENT = 254
"""The exponent field of the largest float32; infinity and NaN have a higher one."""


def _scaled(b: Binding, name: str) -> Scaled:
    tile = b.tile(name)
    return Scaled(
        b.read(name, raw=True),
        b.read(f"{name}_scale", raw=True),
        ELEMENT_TYPES[tile.dtype.name],
        tile.partitions,
        tile.free_size,
    )


@semantics(NcMatmulMxOp, history=added_to)
def nc_matmul_mx(b: Binding) -> Matmul:
    return accumulating(b, _scaled(b, "stationary"), _scaled(b, "moving"))


@semantics(QuantizeMxOp)
def quantize_mx(b: Binding) -> Opaque:
    packed_type = b.dtype("dst").name
    element = ELEMENT_TYPES[packed_type]
    stored, round_into = STORAGE[element], rounder(DTYPES[element])
    largest = np.float32(np.ldexp(1.75, MAX_EXPONENTS[packed_type]))
    # After division by the scale, a group's largest value has the second-largest exponent.
    margin = MAX_EXPONENTS[packed_type] - 1
    src, dst, dst_scale = b.tile("src"), b.tile("dst"), b.tile("dst_scale")
    read = b.reader("src")
    packed = b.as_stored("dst").slot
    scale = b.as_stored("dst_scale").slot
    rows = scale_rows(src.partitions)
    groups = (len(rows), GROUP_PARTITIONS, dst.free_size, PACKED)
    scale_shape = (len(rows), *dst_scale.shape[1:])

    def step(env: Env) -> None:
        values = read(env)
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

    mask = np.zeros(dst_scale.shape, np.bool_)
    mask[rows] = True
    into = (b.as_stored("dst"), b.as_stored("dst_scale"))
    return Opaque(step, declared(b, Reach.tiles, (b.read("src"),), *into, written=(None, mask)))


def _largest_exponents(values: Array, groups: tuple[int, ...]) -> Array:
    """Return the exponent field of the largest magnitude in each group.

    Magnitudes have the same order as their bits.
    """
    bits = np.bitwise_and(values.view(np.int32), 0x7FFF_FFFF)
    return np.right_shift(bits.reshape(groups).max(axis=(1, 3)), _MANTISSA_BITS)
