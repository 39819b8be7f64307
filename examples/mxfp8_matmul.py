"""A matrix product in MXFP8, out = a.T @ b: float8 values in groups of 32 that share a scale.

Both matrices are bfloat16, and the summed dimension is their first. Each is quantized once and
then remains in SBUF. References are the product of the quantized matrices and the exact product.

--inner is the summed dimension, a multiple of 512. --rows and --columns are those of the product;
--rows is a multiple of 2.
"""

from __future__ import annotations

import sys

import ml_dtypes
import numpy as np
from common import Array, Example, Options, Reference, run, sum_error, values

import nki
import nki.isa as nisa
import nki.language as nl

PACKED = 4
"""Adjacent values in a partition that are multiplied at once."""

QUADRANT_SCALES = 4
"""Scales of a quadrant of 32 partitions, one per 8 partitions. Each is stored in a partition."""


@nki.jit
def mxfp8_matmul(a, b):
    (inner, rows), (_, columns) = a.shape, b.shape
    pmax, bank = nl.tile_size.pmax, nl.tile_size.psum_bank_fmax
    assert inner % (PACKED * pmax) == 0, f"{inner} rows are not in blocks of {PACKED * pmax}"
    out = nl.ndarray((rows, columns), dtype=a.dtype, buffer=nl.shared_hbm)

    a_blocks = _quantized(a)
    b_blocks = _quantized(b)

    for m in _parts(rows, nl.tile_size.gemm_stationary_fmax):
        result = nl.ndarray((m.stop - m.start, columns), dtype=out.dtype, buffer=nl.sbuf)
        for n in _parts(columns, bank):
            product = nl.ndarray((m.stop - m.start, n.stop - n.start), nl.float32, nl.psum)
            for i in range(len(a_blocks)):
                (a_data, a_scale), (b_data, b_scale) = a_blocks[i], b_blocks[i]
                nisa.nc_matmul_mx(
                    dst=product,
                    stationary=a_data[:, m],
                    moving=b_data[:, n],
                    stationary_scale=a_scale[:, m],
                    moving_scale=b_scale[:, n],
                    accumulate=i > 0,
                )
            nisa.tensor_copy(dst=result[:, n], src=product)
        nisa.dma_copy(dst=out[m], src=result)
    return out


def _quantized(matrix):
    """Quantize a matrix. Returns data and scales for each 512 of its rows."""
    inner, columns = matrix.shape
    pmax = nl.tile_size.pmax
    blocks: list[tuple[nl.NkiTensor, nl.NkiTensor]] = []
    for start in range(0, inner, PACKED * pmax):
        # Rows may be summed in any order that is the same for both matrices. With four successive
        # rows in a partition, DMA reads them in one piece, and the 32 values of a group, four in
        # each of 8 partitions, are from successive rows, as in the OCP standard.
        loaded = nl.ndarray((pmax, PACKED, columns), dtype=matrix.dtype, buffer=nl.sbuf)
        nisa.dma_copy(
            dst=loaded,
            src=matrix[start : start + PACKED * pmax].reshape((pmax, PACKED, columns)),
        )
        # The four values of an element must be adjacent. The Vector Engine quantizes, so the
        # Scalar Engine does this.
        packed = nl.ndarray((pmax, columns, PACKED), dtype=matrix.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=packed, src=loaded.permute((0, 2, 1)), engine=nisa.engine.scalar)

        # Scales take 4 partitions of a quadrant, so four blocks share a tile: the first is in
        # partitions 0 to 3, 32 to 35 and so on, the second in 4 to 7, 36 to 39, ...
        place = len(blocks) % 4 * QUADRANT_SCALES
        if place == 0:
            scales = nl.ndarray((pmax, columns), dtype=nl.float8_e8m0fnu, buffer=nl.sbuf)
        data = nl.ndarray((pmax, columns), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)
        nisa.quantize_mx(
            dst=data, src=packed.reshape((pmax, columns * PACKED)), dst_scale=scales[place:]
        )
        blocks.append((data, scales[place:]))
    return blocks


def _parts(size, step):
    return [slice(start, min(start + step, size)) for start in range(0, size, step)]


# ------------------------------------------------------------------ checking it

GROUP = 32
LARGEST_EXPONENT = 8
"""The exponent of 448, the largest float8_e4m3fn."""


def inputs(options: Options) -> dict[str, Array]:
    # Groups of very different size, for which separate scales are needed.
    exponents = np.random.default_rng([options.seed, 2]).integers(-8, 8, options.inner // GROUP)
    sizes = np.repeat(np.exp2(exponents), GROUP)[:, np.newaxis]
    given = {
        "a": values(options, options.inner, options.rows, seed=0),
        "b": values(options, options.inner, options.columns, seed=1),
    }
    return {name: x * sizes.astype(x.dtype) for name, x in given.items()}


def group_scales(x: Array) -> Array:
    """Return the scale of every value: a power of two that brings the largest of 32 below 256."""
    groups = np.abs(x.astype(np.float64)).reshape(-1, GROUP, x.shape[1])
    _, exponents = np.frexp(groups.max(axis=1))  # one more than the exponent
    scales = np.ldexp(1.0, exponents - 1 - (LARGEST_EXPONENT - 1))
    return np.repeat(scales, GROUP, axis=0)


def dequantized(x: Array) -> Array:
    """Quantize a matrix and convert it back to float64."""
    scales = group_scales(x)
    return (x / scales).astype(ml_dtypes.float8_e4m3fn).astype(np.float64) * scales


def reference(a: Array, b: Array) -> Array:
    return dequantized(a).T @ dequantized(b)


def float32_error(a: Array, b: Array) -> Array:
    # Products of float8 values and scales are exact in float32, their sum is not.
    return sum_error(len(a)) * (np.abs(dequantized(a)).T @ np.abs(dequantized(b)))


def exact(a: Array, b: Array) -> Array:
    return a.astype(np.float64).T @ b.astype(np.float64)


def quantization_error(a: Array, b: Array) -> Array:
    """Return the bound of the product's error if every value is rounded to nearest."""
    limits = ml_dtypes.finfo(ml_dtypes.float8_e4m3fn)
    sizes, errors = [], []
    for x in (a, b):
        size = np.abs(x.astype(np.float64))
        smallest = float(limits.smallest_normal) * group_scales(x)
        sizes.append(size)
        # Half a unit in the last place, which is constant below the normal numbers.
        errors.append(float(limits.eps) / 2 * np.maximum(size, smallest))
    (a_size, b_size), (a_error, b_error) = sizes, errors
    of_product = a_error.T @ (b_size + b_error) + a_size.T @ b_error
    return of_product + float32_error(a, b)


SIZE = Options(rows=512, columns=2048, inner=2048, dtype="bfloat16")

EXAMPLES = [
    Example(
        mxfp8_matmul,
        inputs,
        reference,
        float32_error,
        others={"product without quantization": Reference(exact, quantization_error)},
        small=Options(rows=160, columns=640, inner=1024, dtype="bfloat16"),
        production=SIZE,
        dtypes=("bfloat16",),
        data=("random",),
        any_size=False,
    )
]


def main() -> int:
    return run(EXAMPLES, __doc__, SIZE)


if __name__ == "__main__":
    sys.exit(main())
