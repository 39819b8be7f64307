"""LayerNorm of every row: (x - mean) / (standard deviation) * gamma + beta.

Try it with --columns 4096, --dtype bfloat16, or --data hard.
"""

from __future__ import annotations

import sys

import numpy as np
from common import UNIT, Array, Example, Options, run, sum_error, values, weights

import nki
import nki.isa as nisa
import nki.language as nl

EPSILON = 1e-5


@nki.jit
def layernorm(x, gamma, beta):
    rows, columns = x.shape
    pmax = nl.tile_size.pmax
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)

    # All rows use the same gamma and beta: one DMA each reads them once for each partition.
    gamma_tile = nl.ndarray((pmax, columns), dtype=gamma.dtype, buffer=nl.sbuf)
    beta_tile = nl.ndarray((pmax, columns), dtype=beta.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=gamma_tile, src=gamma.reshape((1, columns)).broadcast(0, pmax))
    nisa.dma_copy(dst=beta_tile, src=beta.reshape((1, columns)).broadcast(0, pmax))

    for start in range(0, rows, pmax):
        end = min(start + pmax, rows)
        x_tile = nl.ndarray((end - start, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=x_tile, src=x[start:end])

        # x - mean. The tile is float32 for all types of x: its squares need full precision.
        total = nl.ndarray((end - start, 1), dtype=nl.float32, buffer=nl.sbuf)
        mean = nl.ndarray((end - start, 1), dtype=nl.float32, buffer=nl.sbuf)
        centred = nl.ndarray(x_tile.shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=total, op=nl.add, data=x_tile, axis=1)
        nisa.tensor_scalar(dst=mean, data=total, op0=nl.multiply, operand0=1 / columns)
        nisa.tensor_scalar(dst=centred, data=x_tile, op0=nl.subtract, operand0=mean)

        # The variance is the mean of their squares. (The mean of x * x minus the square of the
        # mean would save a pass, but lose all digits where the mean is large.)
        squares = nl.ndarray(x_tile.shape, dtype=nl.float32, buffer=nl.sbuf)
        deviation = nl.ndarray((end - start, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=squares, op=nl.square, data=centred)
        nisa.tensor_reduce(dst=total, op=nl.add, data=squares, axis=1)
        nisa.activation(dst=deviation, op=nl.rsqrt, data=total, scale=1 / columns, bias=EPSILON)

        # (centred * deviation) * gamma + beta
        scaled = nl.ndarray(x_tile.shape, dtype=nl.float32, buffer=nl.sbuf)
        result = nl.ndarray(x_tile.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.scalar_tensor_tensor(
            dst=scaled,
            data=centred,
            op0=nl.multiply,
            operand0=deviation,
            op1=nl.multiply,
            operand1=gamma_tile[: end - start],
        )
        nisa.tensor_tensor(dst=result, data1=scaled, data2=beta_tile[: end - start], op=nl.add)
        nisa.dma_copy(dst=out[start:end], src=result)
    return out


# ------------------------------------------------------------------ checking it


def inputs(options: Options) -> dict[str, Array]:
    return {
        "x": values(options, options.rows, options.columns),
        "gamma": weights(options, options.columns, seed=1),
        "beta": weights(options, options.columns, seed=2),
    }


def _sum(x: Array) -> Array:
    # A sum beyond float32's range is infinite in every float32 implementation.
    return x.sum(axis=1, keepdims=True).astype(np.float32).astype(np.float64)


def reference(x: Array, gamma: Array, beta: Array) -> Array:
    x, gamma, beta = (array.astype(np.float64) for array in (x, gamma, beta))
    centred = x - _sum(x) / x.shape[1]
    variance = _sum(centred * centred) / x.shape[1]
    return centred / np.sqrt(variance + EPSILON) * gamma + beta


def float32_error(x: Array, gamma: Array, beta: Array) -> Array:
    x, gamma, beta = (array.astype(np.float64) for array in (x, gamma, beta))
    columns = x.shape[1]
    centred = x - _sum(x) / columns
    inverse = 1 / np.sqrt(_sum(centred * centred) / columns + EPSILON)
    # The error of the mean is relative to the mean magnitude, which can be much larger than the
    # centred values. The error of the variance is the square of that.
    mean_off = (sum_error(columns) + 4 * UNIT) * np.abs(x).mean(axis=1, keepdims=True)
    inverse_off = sum_error(columns) + 12 * UNIT + np.square(mean_off * inverse)
    scaled_off = inverse * np.abs(gamma) * (mean_off + np.abs(centred) * inverse_off)
    return scaled_off + 2 * UNIT * np.abs(beta)


EXAMPLES = [Example(layernorm, inputs, reference, float32_error)]


def main() -> int:
    return run(EXAMPLES, __doc__)


if __name__ == "__main__":
    sys.exit(main())
