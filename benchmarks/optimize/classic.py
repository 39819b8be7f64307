"""Naive kernels of the classic API: small tiles, one instruction per operator."""

from __future__ import annotations

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

P = 128


@nki.jit
def add(a, b):
    """Return a + b, in tiles of 128 x 128."""
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    for r in nl.affine_range(a.shape[0] // P):
        for c in nl.affine_range(a.shape[1] // P):
            rows, columns = slice(r * P, r * P + P), slice(c * P, c * P + P)
            nl.store(out[rows, columns], nl.load(a[rows, columns]) + nl.load(b[rows, columns]))
    return out


@nki.jit
def gelu(x):
    """Return x * sigmoid(1.702 * x), in tiles of 128 x 256."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for r in nl.affine_range(x.shape[0] // P):
        for c in nl.affine_range(x.shape[1] // 256):
            rows, columns = slice(r * P, r * P + P), slice(c * 256, c * 256 + 256)
            tile = nl.load(x[rows, columns])
            nl.store(out[rows, columns], tile * nl.sigmoid(tile * 1.702))
    return out


@nki.jit
def softmax(x):
    """Return the softmax of each row."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for r in nl.affine_range(x.shape[0] // P):
        rows = slice(r * P, r * P + P)
        tile = nl.load(x[rows, :])
        powers = nl.exp(nl.subtract(tile, nl.max(tile, axis=1, keepdims=True)))
        total = nl.sum(powers, axis=1, keepdims=True)
        nl.store(out[rows, :], nl.multiply(powers, nl.reciprocal(total)))
    return out


@nki.jit
def layernorm(x, gamma, beta):
    """Return the layer norm of each row; gamma and beta are loaded for each tile of rows."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    columns = x.shape[1]
    for r in nl.affine_range(x.shape[0] // P):
        rows = slice(r * P, r * P + P)
        tile = nl.load(x[rows, :])
        mean = nl.multiply(nl.sum(tile, axis=1, keepdims=True), 1 / columns)
        centred = nl.subtract(tile, mean)
        squares = nl.multiply(centred, centred)
        variance = nl.multiply(nl.sum(squares, axis=1, keepdims=True), 1 / columns)
        normal = nl.multiply(centred, nl.rsqrt(nl.add(variance, 1e-5)))
        weights = nl.load(gamma).broadcast_to((P, columns))
        shifts = nl.load(beta).broadcast_to((P, columns))
        nl.store(out[rows, :], nl.add(nl.multiply(normal, weights), shifts))
    return out


@nki.jit
def matmul(a, b):
    """Return a.T @ b; both operands are loaded in the innermost loop."""
    out = nl.ndarray((a.shape[1], b.shape[1]), dtype=a.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(a.shape[1] // P):
        for n in nl.affine_range(b.shape[1] // 512):
            rows, columns = slice(m * P, m * P + P), slice(n * 512, n * 512 + 512)
            product = nl.zeros((P, 512), nl.float32, buffer=nl.psum)
            for k in nl.affine_range(a.shape[0] // P):
                depth = slice(k * P, k * P + P)
                product += nisa.nc_matmul(nl.load(a[depth, rows]), nl.load(b[depth, columns]))
            nl.store(out[rows, columns], nl.copy(product, dtype=a.dtype))
    return out


@nki.jit
def transpose(x):
    """Return x.T, with nisa.nc_transpose of tiles."""
    rows, columns = x.shape
    out = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    for r in nl.affine_range(rows // P):
        for c in nl.affine_range(columns // P):
            tile = nl.load(x[r * P : r * P + P, c * P : c * P + P])
            turned = nisa.nc_transpose(tile)
            nl.store(out[c * P : c * P + P, r * P : r * P + P], nl.copy(turned, dtype=x.dtype))
    return out


@nki.jit
def average_pool(x):
    """Return the mean of every window of 2 x 2; `x` is (channels, height, width)."""
    channels, height, width = x.shape
    out = nl.ndarray((channels, height // 2, width // 2), dtype=x.dtype, buffer=nl.shared_hbm)
    for row in nl.affine_range(height // 2):
        lines = nl.load(x[:, 2 * row : 2 * row + 2, :])
        c = nl.arange(channels)[:, None, None, None]
        column = nl.arange(width // 2)[None, :, None, None]
        i = nl.arange(2)[None, None, :, None]
        j = nl.arange(2)[None, None, None, :]
        total = nisa.tensor_reduce(np.add, lines[c, i, 2 * column + j], axis=[2, 3])
        nl.store(out[:, row, :], nl.multiply(total, 0.25))
    return out


@nki.jit
def scan(a, b):
    """Return y[t] = a[t] * y[t - 1] + b[t] for each row, in tiles of 128 x 256."""
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    for r in nl.affine_range(a.shape[0] // P):
        rows = slice(r * P, r * P + P)
        last = nl.zeros((P, 1), dtype=nl.float32)
        for c in nl.static_range(a.shape[1] // 256):
            columns = slice(c * 256, c * 256 + 256)
            result = nisa.tensor_tensor_scan(
                *(nl.load(a[rows, columns]), nl.load(b[rows, columns])),
                initial=last,
                op0=np.multiply,
                op1=np.add,
            )
            last[...] = nl.copy(result[:, 255:256])
            nl.store(out[rows, columns], result)
    return out
