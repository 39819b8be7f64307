"""Fused updates, two operations in one instruction: (data op0 number) op1 tile.

Three common ones: a scaled residual connection, the same with a gate for each row, and a step of
gradient descent, which swaps the operands of the second operation.

Try them with --columns 4096, --dtype bfloat16, or --data hard.
"""

from __future__ import annotations

import sys

import numpy as np
from common import UNIT, Array, Example, Options, run, values, weights

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def residual(x, residual, alpha=0.5):
    """Return x * alpha + residual."""
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, nl.tile_size.pmax):
        end = min(start + nl.tile_size.pmax, rows)
        x_tile = nl.ndarray((end - start, columns), dtype=x.dtype, buffer=nl.sbuf)
        residual_tile = nl.ndarray(x_tile.shape, dtype=residual.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=x_tile, src=x[start:end])
        nisa.dma_copy(dst=residual_tile, src=residual[start:end])

        result = nl.ndarray(x_tile.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.scalar_tensor_tensor(
            dst=result,
            data=x_tile,
            op0=nl.multiply,
            operand0=alpha,
            op1=nl.add,
            operand1=residual_tile,
        )
        nisa.dma_copy(dst=out[start:end], src=result)
    return out


@nki.jit
def gated_residual(x, residual, gate):
    """Return x * gate + residual, where `gate` has shape (rows, 1)."""
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, nl.tile_size.pmax):
        end = min(start + nl.tile_size.pmax, rows)
        x_tile = nl.ndarray((end - start, columns), dtype=x.dtype, buffer=nl.sbuf)
        residual_tile = nl.ndarray(x_tile.shape, dtype=residual.dtype, buffer=nl.sbuf)
        gate_tile = nl.ndarray((end - start, 1), dtype=gate.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=x_tile, src=x[start:end])
        nisa.dma_copy(dst=residual_tile, src=residual[start:end])
        nisa.dma_copy(dst=gate_tile, src=gate[start:end])

        # One number per partition instead of one number: a (P, 1) tile.
        result = nl.ndarray(x_tile.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.scalar_tensor_tensor(
            dst=result,
            data=x_tile,
            op0=nl.multiply,
            operand0=gate_tile,
            op1=nl.add,
            operand1=residual_tile,
        )
        nisa.dma_copy(dst=out[start:end], src=result)
    return out


@nki.jit
def descent(weights, gradient, rate=0.01):
    """Return weights - gradient * rate, in float32."""
    rows, columns = weights.shape
    out = nl.ndarray(weights.shape, dtype=weights.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, nl.tile_size.pmax):
        end = min(start + nl.tile_size.pmax, rows)
        weights_tile = nl.ndarray((end - start, columns), dtype=weights.dtype, buffer=nl.sbuf)
        gradient_tile = nl.ndarray(weights_tile.shape, dtype=gradient.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=weights_tile, src=weights[start:end])
        nisa.dma_copy(dst=gradient_tile, src=gradient[start:end])

        # Without reverse1 this would be gradient * rate - weights. The result may overwrite an
        # input: each element is read before it is written.
        nisa.scalar_tensor_tensor(
            dst=weights_tile,
            data=gradient_tile,
            op0=nl.multiply,
            operand0=rate,
            op1=nl.subtract,
            operand1=weights_tile,
            reverse1=True,
        )
        nisa.dma_copy(dst=out[start:end], src=weights_tile)
    return out


# ------------------------------------------------------------------ checking them
#
# The references use float32, like the engine, so that they overflow where the engine does.


def inputs(options: Options) -> dict[str, Array | float]:
    shape = (options.rows, options.columns)
    return {
        "x": values(options, *shape, seed=0),
        "residual": values(options, *shape, seed=1),
        "alpha": 0.5,
    }


def reference(x: Array, residual: Array, alpha: float) -> Array:
    return x.astype(np.float32) * np.float32(alpha) + residual.astype(np.float32)


def float32_error(x: Array, residual: Array, alpha: float) -> Array:
    # Rounded after the multiplication and after the addition, here and in the reference.
    return 4 * UNIT * (np.abs(x * alpha).astype(np.float64) + np.abs(residual))


def gated_inputs(options: Options) -> dict[str, Array]:
    arrays = {n: a for n, a in inputs(options).items() if isinstance(a, np.ndarray)}
    return {**arrays, "gate": weights(options, options.rows, 1, seed=2)}


def gated_reference(x: Array, residual: Array, gate: Array) -> Array:
    return x.astype(np.float32) * gate.astype(np.float32) + residual.astype(np.float32)


def descent_inputs(options: Options) -> dict[str, Array | float]:
    shape = (options.rows, options.columns)
    return {
        "weights": values(options, *shape, seed=0).astype(np.float32),
        "gradient": values(options, *shape, seed=1),
        "rate": 0.01,
    }


def descent_reference(weights: Array, gradient: Array, rate: float) -> Array:
    return weights - gradient.astype(np.float32) * np.float32(rate)


def descent_float32_error(weights: Array, gradient: Array, rate: float) -> Array:
    return float32_error(gradient, weights, rate)


EXAMPLES = [
    Example(residual, inputs, reference, float32_error),
    Example(gated_residual, gated_inputs, gated_reference, float32_error),
    Example(descent, descent_inputs, descent_reference, descent_float32_error),
]


def main() -> int:
    return run(EXAMPLES, __doc__)


if __name__ == "__main__":
    sys.exit(main())
