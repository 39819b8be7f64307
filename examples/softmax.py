"""Softmax of every row, for trn3 and for trn2.

`softmax` is online: it reads each element once and exponentiates it once, before the whole row is
loaded. `softmax_trn2` computes the maximum of the whole row first.

Try them with --columns 4096, --dtype bfloat16, or --data hard.
"""

from __future__ import annotations

import sys

import numpy as np
from common import UNIT, Array, Example, Options, run, sum_error, values

import nki
import nki.isa as nisa
import nki.language as nl

TILE = 512
"""Columns per tile."""

LOWEST = -3.4028234e38
"""The lowest finite float32."""


@nki.jit
def softmax(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    parts = [slice(c, min(c + TILE, columns)) for c in range(0, columns, TILE)]

    for start in range(0, rows, nl.tile_size.pmax):
        end = min(start + nl.tile_size.pmax, rows)
        y = nl.ndarray((end - start, columns), dtype=nl.float32, buffer=nl.sbuf)
        maxima = nl.ndarray((end - start, len(parts)), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((end - start, 1), dtype=nl.float32, buffer=nl.sbuf)

        # Online: the maximum is updated tile by tile. The sum so far is relative to the old
        # maximum: load_reduce continues with the sum times exp(old - new).
        for i, part in enumerate(parts):
            x_tile = nl.ndarray((end - start, part.stop - part.start), x.dtype, nl.sbuf)
            nisa.dma_copy(dst=x_tile, src=x[start:end, part])

            maximum = maxima[:, i : i + 1]
            nisa.tensor_reduce(dst=maximum, op=nl.maximum, data=x_tile, axis=1)
            if i == 0:
                # A maximum of -inf (of a masked tile) would give -inf - -inf = NaN.
                nisa.tensor_scalar(dst=maximum, data=maximum, op0=nl.maximum, operand0=LOWEST)
                nisa.exponential(
                    dst=y[:, part],
                    src=x_tile,
                    max_value=maximum,
                    reduce_cmd=nisa.reduce_cmd.reset_reduce,
                    reduce_res=total,
                )
                continue

            before = maxima[:, i - 1 : i]
            nisa.tensor_tensor(dst=maximum, data1=maximum, data2=before, op=nl.maximum)
            carried = nl.ndarray((end - start, 1), dtype=nl.float32, buffer=nl.sbuf)
            nisa.exponential(dst=carried, src=before, max_value=maximum)
            nisa.tensor_tensor(dst=carried, data1=carried, data2=total, op=nl.multiply)
            nisa.exponential(
                dst=y[:, part],
                src=x_tile,
                max_value=maximum,
                reduce_cmd=nisa.reduce_cmd.load_reduce,
                reduce_init=carried,
                reduce_res=total,
            )

        # Every tile of y is relative to the maximum so far: rescale all to the last maximum.
        factors = nl.ndarray(maxima.shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.exponential(dst=factors, src=maxima, max_value=maxima[:, len(parts) - 1 :])
        inverse = nl.ndarray((end - start, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.reciprocal(dst=inverse, data=total)
        for i, part in enumerate(parts):
            result = nl.ndarray((end - start, part.stop - part.start), x.dtype, nl.sbuf)
            nisa.tensor_scalar(
                dst=result,
                data=y[:, part],
                op0=nl.multiply,
                operand0=factors[:, i : i + 1],
                op1=nl.multiply,
                operand1=inverse,
            )
            nisa.dma_copy(dst=out[start:end, part], src=result)
    return out


@nki.jit(platform_target="trn2")
def softmax_trn2(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    parts = [slice(c, min(c + TILE, columns)) for c in range(0, columns, TILE)]

    for start in range(0, rows, nl.tile_size.pmax):
        end = min(start + nl.tile_size.pmax, rows)
        x_tile = nl.ndarray((end - start, columns), dtype=x.dtype, buffer=nl.sbuf)
        maxima = nl.ndarray((end - start, len(parts)), dtype=nl.float32, buffer=nl.sbuf)
        for i, part in enumerate(parts):
            nisa.dma_copy(dst=x_tile[:, part], src=x[start:end, part])
            nisa.tensor_reduce(
                dst=maxima[:, i : i + 1], op=nl.maximum, data=x_tile[:, part], axis=1
            )
        negative_maximum = nl.ndarray((end - start, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=negative_maximum, op=nl.maximum, data=maxima, axis=1, negate=True)

        # trn2 has no exponential instruction. The Scalar Engine has the function, and
        # accumulators: reset by the first tile, continued by the others, read after the last.
        y = nl.ndarray((end - start, columns), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((end - start, 1), dtype=nl.float32, buffer=nl.sbuf)
        for i, part in enumerate(parts):
            first, last = i == 0, i == len(parts) - 1
            nisa.activation(
                dst=y[:, part],
                op=nl.exp,
                data=x_tile[:, part],
                bias=negative_maximum,
                reduce_op=nl.add,
                reduce_cmd=nisa.reduce_cmd.reset_reduce if first else nisa.reduce_cmd.reduce,
                reduce_res=total if last else None,
            )

        inverse = nl.ndarray((end - start, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.reciprocal(dst=inverse, data=total)
        result = nl.ndarray((end - start, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=result, data=y, op0=nl.multiply, operand0=inverse)
        nisa.dma_copy(dst=out[start:end], src=result)
    return out


# ------------------------------------------------------------------ checking them


def inputs(options: Options) -> dict[str, Array]:
    return {"x": values(options, options.rows, options.columns)}


def reference(x: Array) -> Array:
    x = x.astype(np.float64)
    y = np.exp(x - x.max(axis=1, keepdims=True))
    return y / y.sum(axis=1, keepdims=True)


def float32_error(x: Array) -> Array:
    expected = reference(x)
    x = x.astype(np.float64)
    # An error of UNIT * d in exp's argument is a relative error of UNIT * d in its value, and at
    # most the same in the sum. Beyond 200, exp is 0 in float32.
    d = np.minimum(x.max(axis=1, keepdims=True) - x, 200)
    count = x.shape[1]
    return expected * (UNIT * (d + np.log(count) + 32) + sum_error(count))


EXAMPLES = [
    Example(softmax, inputs, reference, float32_error),
    Example(softmax_trn2, inputs, reference, float32_error),
]


def main() -> int:
    return run(EXAMPLES, __doc__)


if __name__ == "__main__":
    sys.exit(main())
