"""A matrix product of any size, in tiles: out = a @ b.

Try it with --rows 1024, --columns 4096, --inner 2048, --dtype bfloat16, or --data hard.
"""

from __future__ import annotations

import sys

import numpy as np
from common import SMALLEST, Array, Example, Options, run, sum_error, values, weights

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def matmul(a, b):
    (rows, inner), (_, columns) = a.shape, b.shape
    out = nl.ndarray((rows, columns), dtype=a.dtype, buffer=nl.shared_hbm)

    # The Tensor Engine computes stationary.T @ moving: it sums over the 128 partitions of both.
    # A row of the result has up to 512 numbers, which fill a bank of PSUM.
    row_parts = _parts(rows, nl.tile_size.gemm_stationary_fmax)
    inner_parts = _parts(inner, nl.tile_size.pmax)
    column_parts = _parts(columns, nl.tile_size.psum_bank_fmax)

    # The summed dimension of b is its first: no transpose. b is loaded once for all rows of a.
    b_tiles = []
    for k in inner_parts:
        b_tile = nl.ndarray((_size(k), columns), dtype=b.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=b_tile, src=b[k])
        b_tiles.append(b_tile)

    for m in row_parts:
        a_tile = nl.ndarray((_size(m), inner), dtype=a.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=a_tile, src=a[m])

        # That of a is its last, so blocks are transposed: by the Tensor Engine, through PSUM.
        stationary = []
        for k in inner_parts:
            transposed = nl.ndarray((_size(k), _size(m)), dtype=a.dtype, buffer=nl.psum)
            nisa.nc_transpose(dst=transposed, data=a_tile[:, k])
            block = nl.ndarray(transposed.shape, dtype=a.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=block, src=transposed)
            stationary.append(block)

        for n in column_parts:
            # Matmuls accumulate in PSUM, in float32; the first one overwrites.
            product = nl.ndarray((_size(m), _size(n)), dtype=nl.float32, buffer=nl.psum)
            for i in range(len(inner_parts)):
                nisa.nc_matmul(
                    dst=product,
                    stationary=stationary[i],
                    moving=b_tiles[i][:, n],
                    accumulate=i > 0,
                )
            # DMA cannot read PSUM.
            result = nl.ndarray(product.shape, dtype=a.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=result, src=product)
            nisa.dma_copy(dst=out[m, n], src=result)
    return out


def _parts(size, step):
    return [slice(start, min(start + step, size)) for start in range(0, size, step)]


def _size(part):
    return part.stop - part.start


# ------------------------------------------------------------------ checking it


def inputs(options: Options) -> dict[str, Array]:
    # b is positive: whether a sum overflows does not depend on the order of the additions.
    return {
        "a": values(options, options.rows, options.inner),
        "b": weights(options, options.inner, options.columns),
    }


def reference(a: Array, b: Array) -> Array:
    return a.astype(np.float64) @ b.astype(np.float64)


def float32_error(a: Array, b: Array) -> Array:
    magnitude = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    inner = a.shape[1]
    return sum_error(inner) * magnitude + inner * SMALLEST


EXAMPLES = [Example(matmul, inputs, reference, float32_error)]


def main() -> int:
    return run(EXAMPLES, __doc__, Options(rows=512, columns=512))


if __name__ == "__main__":
    sys.exit(main())
