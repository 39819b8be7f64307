"""Transposes, in the classic API: of the free dimensions, and of partitions with columns."""

from __future__ import annotations

import numpy as np
from check import check

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

TILE = 128


@nki.jit
def transpose_free(x):
    """Transpose (p, rows, columns) to (p, columns, rows) by a copy with swapped indices."""
    partitions, rows, columns = x.shape
    out = nl.ndarray((partitions, columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(partitions)[:, None, None]
    i_row, i_column = nl.arange(rows)[None, :, None], nl.arange(columns)[None, None, :]
    x_tile = nl.load(x)
    transposed = nl.ndarray((partitions, columns, rows), dtype=x.dtype)
    transposed[i_p, i_column, i_row] = nl.copy(x_tile[i_p, i_row, i_column])
    nl.store(out, transposed)
    return out


@nki.jit
def transpose_blocks(x):
    """Transpose (rows, columns) to (columns, rows), block by block on the Tensor Engine."""
    rows, columns = x.shape
    out = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:TILE, 0:TILE]
    for i in nl.affine_range(rows // TILE):
        for j in nl.affine_range(columns // TILE):
            block = nl.load(x[i * TILE + i_p, j * TILE + i_f])
            nl.store(out[j * TILE + i_p, i * TILE + i_f], nisa.nc_transpose(block))
    return out


def reference_free(x):
    return np.swapaxes(x, 1, 2)


def reference_blocks(x):
    return x.T


INPUTS_FREE = {"x": np.random.default_rng(0).random((64, 12, 20)).astype(np.float32)}
INPUTS_BLOCKS = {"x": np.random.default_rng(0).random((256, 384)).astype(np.float32)}


def main() -> None:
    check(transpose_free, INPUTS_FREE, reference_free, 1e-7)
    check(transpose_blocks, INPUTS_BLOCKS, reference_blocks, 1e-7)


if __name__ == "__main__":
    main()
