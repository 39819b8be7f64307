"""Softmax over rows, in the classic API: a mask limits the last tile."""

from __future__ import annotations

import math

import numpy as np
from check import check

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def softmax(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(nl.tile_size.pmax)[:, None]
    i_f = nl.arange(columns)[None, :]
    for tile in nl.affine_range(math.ceil(rows / nl.tile_size.pmax)):
        row = tile * nl.tile_size.pmax + i_p
        x_tile = nl.load(x[row, i_f], mask=row < rows)

        # exp(x - max) and its sum in one pass of the Scalar Engine.
        negative_max = nisa.tensor_reduce(
            np.max, x_tile, axis=[1], negate=True, keepdims=True, mask=row < rows
        )
        total = nl.ndarray((nl.tile_size.pmax, 1), dtype=nl.float32, buffer=nl.sbuf)
        shifted = nisa.activation_reduce(
            np.exp,
            x_tile,
            bias=negative_max,
            reduce_op=np.add,
            reduce_res=total,
            dtype=nl.float32,
            mask=row < rows,
        )
        result = nl.multiply(
            shifted, nisa.reciprocal(total, mask=row < rows), dtype=x.dtype, mask=row < rows
        )
        nl.store(out[row, i_f], result, mask=row < rows)
    return out


def reference(x):
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


INPUTS = {"x": np.random.default_rng(0).standard_normal((300, 512)).astype(np.float32)}


def main() -> None:
    check(softmax, INPUTS, reference, 1e-6)


if __name__ == "__main__":
    main()
