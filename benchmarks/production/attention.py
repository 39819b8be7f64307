"""Attention of a block of rows."""

from __future__ import annotations

from typing import Any

import nkijit.isa as nisa
import nkijit.language as nl
from benchmarks.production.movement import transpose
from benchmarks.production.stack import COLUMNS, HEAD, ROWS, Stack


def attend(stack: Stack, queries: Any, keys: Any, values: Any) -> Any:
    """Softmax of the scores times the values, head by head."""
    result = stack.tile(ROWS, COLUMNS)
    for start in range(0, COLUMNS, HEAD):
        with stack.scope():
            head = slice(start, start + HEAD)
            scores = stack.psum(ROWS, ROWS)
            nisa.nc_matmul(dst=scores, stationary=queries[head, :], moving=keys[head, :])
            weights, total = softmax(stack, scores)
            attended = stack.psum(ROWS, HEAD)
            narrow = stack.tile(ROWS, HEAD, nl.bfloat16)
            nisa.tensor_copy(dst=narrow, src=values[:, head])
            nisa.nc_matmul(dst=attended, stationary=transpose(stack, weights), moving=narrow)
            nisa.tensor_scalar(dst=result[:, head], data=attended, op0=nl.multiply, operand0=total)
    return result


def softmax(stack: Stack, scores: Any) -> tuple[Any, Any]:
    """Return exponentials of scores, and one over their sum per row."""
    largest, total = stack.tile(ROWS, 1), stack.tile(ROWS, 1)
    weights = stack.tile(ROWS, ROWS)
    nisa.tensor_reduce(dst=largest, op=nl.maximum, data=scores, axis=1, negate=True)
    nisa.activation_reduce(
        dst=weights, op=nl.exp, data=scores, bias=largest, reduce_op=nl.add, reduce_res=total
    )
    nisa.reciprocal(dst=total, data=total)
    return weights, total
