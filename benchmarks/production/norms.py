"""Normalisation of rows."""

from __future__ import annotations

from typing import Any

import nkijit.isa as nisa
import nkijit.language as nl
from benchmarks.production.stack import COLUMNS, ROWS, Stack


def rms_norm(stack: Stack, tile: Any, weights: Any) -> Any:
    """RMSNorm; the squares are summed in two halves, each into its own column."""
    result = stack.tile(ROWS, COLUMNS)
    with stack.scope():
        squares, sums = stack.tile(ROWS, COLUMNS), stack.tile(ROWS, 2)
        for half in range(2):
            columns = nl.ds(half * COLUMNS // 2, COLUMNS // 2)
            nisa.activation(
                dst=squares[:, columns],
                op=nl.square,
                data=tile[:, columns],
                reduce_op=nl.add,
                reduce_res=sums[:, half : half + 1],
                reduce_cmd=nisa.reduce_cmd.reset_reduce,
            )
        mean, scale = stack.tile(ROWS, 1), stack.tile(ROWS, 1)
        nisa.tensor_reduce(dst=mean, op=nl.add, data=sums, axis=1)
        nisa.tensor_scalar(
            dst=mean, data=mean, op0=nl.multiply, operand0=1 / COLUMNS, op1=nl.add, operand1=1e-6
        )
        nisa.activation(dst=scale, op=nl.rsqrt, data=mean)
        nisa.tensor_scalar(dst=result, data=tile, op0=nl.multiply, operand0=scale)
        nisa.tensor_tensor(dst=result, data1=result, data2=weights, op=nl.multiply)
    return result
