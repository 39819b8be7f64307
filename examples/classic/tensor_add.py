"""Tensor addition over a grid of 4 x 2 instances, in the classic API."""

from __future__ import annotations

import numpy as np
from check import check

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

GRID = (4, 2)
ROWS, COLUMNS = 128, 512


@nki.jit
def add_block(a, b):
    """Add one block of ROWS x COLUMNS in each instance."""
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    i_p = nl.program_id(0) * ROWS + nl.arange(ROWS)[:, None]
    i_f = nl.program_id(1) * COLUMNS + nl.arange(COLUMNS)[None, :]
    nl.store(out[i_p, i_f], nl.load(a[i_p, i_f]) + nl.load(b[i_p, i_f]))
    return out


tensor_add = add_block[GRID]
tensor_add_on_two_cores = add_block[nl.nc(2) * 2, 2]


def reference(a, b):
    return a + b


_shape = (GRID[0] * ROWS, GRID[1] * COLUMNS)
INPUTS = {name: np.random.default_rng(0).random(_shape).astype(np.float32) for name in "ab"}


def main() -> None:
    check(tensor_add, INPUTS, reference, 1e-7)
    check(tensor_add_on_two_cores, INPUTS, reference, 1e-7)


if __name__ == "__main__":
    main()
