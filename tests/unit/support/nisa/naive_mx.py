"""MX instructions, one Python number at a time; see `naive`.

Packed elements are unpacked by hand: the first of the four values in an x4 element is in the lowest
bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from support import oracle
from support.nisa.naive import STORAGE, Ends, Machine, Operand, Rows, exactly, reduced
from support.oracle import f32

ELEMENTS = {
    "float8_e5m2_x4": "float8_e5m2",
    "float8_e4m3fn_x4": "float8_e4m3fn",
    "float4_e2m1fn_x4": "float4_e2m1fn",
}
LARGEST_EXPONENTS = {"float8_e4m3fn": 8, "float8_e5m2": 15}


def decode_float4(bits: int) -> float:
    """A sign, two bits of exponent and one of mantissa: 0, 0.5, 1, 1.5, 2, 3, 4 and 6."""
    sign, exponent, mantissa = bits // 8, bits // 2 % 4, bits % 2
    size = mantissa / 2 if exponent == 0 else (1 + mantissa / 2) * 2 ** (exponent - 1)
    return -size if sign else size


def unpacked(dtype: str, bits: int) -> list[float]:
    """The four values in an x4 element."""
    if dtype == "float4_e2m1fn_x4":
        return [decode_float4(bits // 16**i % 16) for i in range(4)]
    return [float(oracle.decode(ELEMENTS[dtype], bits // 256**i % 256)) for i in range(4)]


def scale_of(scales: list[list[int]], partition: int, column: int) -> int:
    """The scale of the group that an x4 element is in.

    Groups are 8 partitions high. Those of a quadrant of 32 partitions have their scales in the
    first 4 of the 32 partitions of the scale tile.
    """
    quadrant, inside = divmod(partition, 32)
    return scales[quadrant * 32 + inside // 8][column]


def dequantized(data: Operand, scale: Operand) -> Rows:
    """Four rows for each partition: the values of its elements, times their scales."""
    scales = scale_bytes(scale)
    rows: Rows = []
    for p, row in enumerate(data.integers()):
        values = [unpacked(data.dtype, bits) for bits in row]
        for i in range(4):
            rows.append(
                [
                    exactly(f32(value[i] * float(oracle.decode("float8_e8m0fnu", s))))
                    for value, s in (
                        (value, scale_of(scales, p, column)) for column, value in enumerate(values)
                    )
                ]
            )
    return rows


def scale_bytes(scale: Operand) -> list[list[int]]:
    """The bits of a tile of scales."""
    return [[int(bits) for bits in row.reshape(-1).view(np.uint8)] for row in scale.low.copy()]


def nc_matmul_mx(
    m: Machine,
    dst: Operand,
    stationary: Operand,
    moving: Operand,
    stationary_scale: Operand,
    moving_scale: Operand,
    accumulate: bool | None = None,
    **tile: Any,
) -> None:
    left, right = dequantized(stationary, stationary_scale), dequantized(moving, moving_scale)
    written = dst.by_matmul.copy().reshape(dst.shape)
    rows: list[list[Ends]] = []
    for i, before in enumerate(dst.rows()):
        rows.append([])
        for j, previous in enumerate(before):
            products = [exactly(a[i][0] * b[j][0]) for a, b in zip(left, right, strict=True)]
            adds = bool(written[i, j]) if accumulate is None else accumulate
            rows[-1].append(reduced("add", previous if adds else exactly(0.0), products))
    dst.write(rows)
    dst.by_matmul[...] = True


def quantized_group(values: list[float], element: str) -> tuple[int, list[float]]:
    """Return the byte of the scale of 32 values, and the quantized values."""
    top = LARGEST_EXPONENTS[element]
    if any(not math.isfinite(value) for value in values):
        exponent = 128
    else:
        largest = max(abs(value) for value in values)
        exponent = math.frexp(largest)[1] - 1 if largest else -127
    scale = max(exponent - (top - 1), -127)
    most = 1.75 * 2.0**top
    results: list[float] = []
    for value in values:
        if math.isinf(value):
            results.append(math.copysign(most, value))
        else:
            rounded = float(oracle.round_to(element, math.ldexp(value, -scale)))
            assert not math.isfinite(value) or abs(rounded) <= most
            results.append(rounded)
    return scale + 127, results


def quantize_mx(m: Machine, dst: Operand, src: Operand, dst_scale: Operand) -> None:
    element = ELEMENTS[dst.dtype]
    values = [[low for low, _ in row] for row in src.rows()]
    scales = dst_scale.low.reshape(dst_scale.shape).copy()
    packed = [[0] * dst.shape[1] for _ in values]
    for group in range(len(values) // 8):
        row = group // 4 * 32 + group % 4
        for column in range(dst.shape[1]):
            places = [(group * 8 + p, column * 4 + i) for p in range(8) for i in range(4)]
            byte, results = quantized_group([values[p][f] for p, f in places], element)
            scales[row, column] = np.array(byte, np.uint8).view(scales.dtype)
            for (p, f), result in zip(places, results, strict=True):
                bits = int(np.array(result).astype(STORAGE[element]).view(np.uint8))
                packed[p][column] += bits * 256 ** (f % 4)
    dst.write_stored(packed)
    dst_scale.write_stored([list(row) for row in scales])


INSTRUCTIONS: dict[str, Callable[..., None]] = {
    function.__name__: function for function in (nc_matmul_mx, quantize_mx)
}
