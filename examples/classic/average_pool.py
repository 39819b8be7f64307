"""Average pooling, in the classic API: windows are index expressions of five dimensions."""

from __future__ import annotations

import numpy as np
from check import check

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

SIZE, STRIDE = 3, 2


@nki.jit
def average_pool(x):
    """Return the mean of every window of SIZE x SIZE; `x` is (channels, height, width)."""
    channels, height, width = x.shape
    rows, columns = (height - SIZE) // STRIDE + 1, (width - SIZE) // STRIDE + 1
    out = nl.ndarray((channels, rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)

    # Windows overlap where STRIDE < SIZE: an access pattern may read an element several times.
    c = nl.arange(channels)[:, None, None, None, None]
    row = nl.arange(rows)[None, :, None, None, None]
    column = nl.arange(columns)[None, None, :, None, None]
    i = nl.arange(SIZE)[None, None, None, :, None]
    j = nl.arange(SIZE)[None, None, None, None, :]
    x_tile = nl.load(x)
    windows = x_tile[c, STRIDE * row + i, STRIDE * column + j]
    total = nisa.tensor_reduce(np.add, windows, axis=[3, 4])
    nl.store(out, nl.multiply(total, 1 / SIZE**2))
    return out


def reference(x):
    windows = np.lib.stride_tricks.sliding_window_view(x, (SIZE, SIZE), axis=(1, 2))
    return windows[:, ::STRIDE, ::STRIDE].mean(axis=(3, 4))


INPUTS = {"x": np.random.default_rng(0).random((32, 21, 33)).astype(np.float32)}


def main() -> None:
    check(average_pool, INPUTS, reference, 1e-6)


if __name__ == "__main__":
    main()
