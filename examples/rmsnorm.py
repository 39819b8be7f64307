"""RMSNorm of every row: x / (root of the mean square) * gamma.

Try it with --columns 4096, --dtype bfloat16, or --data hard; or on NumPy files:

    nkijit run examples/rmsnorm.py:rmsnorm -i x=x.npy -i gamma=gamma.npy -o out.npy
"""

from __future__ import annotations

import sys

import numpy as np
from common import UNIT, Array, Example, Options, run, sum_error, values, weights

import nki
import nki.isa as nisa
import nki.language as nl

EPSILON = 1e-6


@nki.jit
def rmsnorm(x, gamma):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)

    # All rows use the same gamma: one DMA reads it once for each partition.
    gamma_tile = nl.ndarray((nl.tile_size.pmax, columns), dtype=gamma.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=gamma_tile, src=gamma.reshape((1, columns)).broadcast(0, nl.tile_size.pmax))

    for start in range(0, rows, nl.tile_size.pmax):
        end = min(start + nl.tile_size.pmax, rows)
        x_tile = nl.ndarray((end - start, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=x_tile, src=x[start:end])

        # Squares and their sum in one pass. Only the sum is used; the squares are written too.
        squares = nl.ndarray(x_tile.shape, dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((end - start, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(
            dst=squares, op=nl.square, data=x_tile, reduce_op=nl.add, reduce_res=total
        )

        # 1 / sqrt(total / columns + EPSILON)
        inverse_rms = nl.ndarray((end - start, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=inverse_rms, op=nl.rsqrt, data=total, scale=1 / columns, bias=EPSILON)

        # (x * inverse_rms) * gamma: a number per row, then a number per column.
        result = nl.ndarray(x_tile.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.scalar_tensor_tensor(
            dst=result,
            data=x_tile,
            op0=nl.multiply,
            operand0=inverse_rms,
            op1=nl.multiply,
            operand1=gamma_tile[: end - start],
        )
        nisa.dma_copy(dst=out[start:end], src=result)
    return out


# ------------------------------------------------------------------ checking it


def inputs(options: Options) -> dict[str, Array]:
    return {
        "x": values(options, options.rows, options.columns),
        "gamma": weights(options, options.columns),
    }


def reference(x: Array, gamma: Array) -> Array:
    x, gamma = x.astype(np.float64), gamma.astype(np.float64)
    # In every float32 implementation, a sum beyond float32's range is infinite and its row 0.
    total = np.sum(x * x, axis=1, keepdims=True).astype(np.float32).astype(np.float64)
    return x / np.sqrt(total / x.shape[1] + EPSILON) * gamma


def float32_error(x: Array, gamma: Array) -> Array:
    # Only products and sums of squares: every error is relative to the result.
    return np.abs(reference(x, gamma)) * (sum_error(x.shape[1]) + 12 * UNIT)


EXAMPLES = [Example(rmsnorm, inputs, reference, float32_error)]


def main() -> int:
    return run(EXAMPLES, __doc__)


if __name__ == "__main__":
    sys.exit(main())
