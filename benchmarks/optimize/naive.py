"""Naive kernels of the current API: small tiles, repeated loads, one instruction per operator."""

from __future__ import annotations

import nki
import nki.isa as nisa
import nki.language as nl

P = 128
F32 = nl.float32


def _hbm(shape, dtype):
    return nl.ndarray(shape, dtype, buffer=nl.shared_hbm)


def _tile(rows, columns, dtype=F32):
    return nl.ndarray((rows, columns), dtype, buffer=nl.sbuf)


def _load(source, dtype=None):
    tile = _tile(*source.shape, dtype or source.dtype)
    nisa.dma_copy(dst=tile, src=source)
    return tile


@nki.jit
def add(a, b):
    """Return a + b, in tiles of 128 x 128."""
    out = _hbm(a.shape, a.dtype)
    for r in range(0, a.shape[0], P):
        for c in range(0, a.shape[1], 128):
            x = _load(a[r : r + P, c : c + 128])
            y = _load(b[r : r + P, c : c + 128])
            z = _tile(P, 128, a.dtype)
            nisa.tensor_tensor(dst=z, data1=x, data2=y, op=nl.add)
            nisa.dma_copy(dst=out[r : r + P, c : c + 128], src=z)
    return out


@nki.jit
def scale_shift(x, scale, shift):
    """Return x * scale + shift, with factors per row, in tiles of 128 x 256."""
    out = _hbm(x.shape, x.dtype)
    for r in range(0, x.shape[0], P):
        for c in range(0, x.shape[1], 256):
            tile = _load(x[r : r + P, c : c + 256])
            factor = _load(scale[r : r + P, 0:1])
            offset = _load(shift[r : r + P, 0:1])
            scaled = _tile(P, 256)
            nisa.tensor_scalar(dst=scaled, data=tile, op0=nl.multiply, operand0=factor)
            shifted = _tile(P, 256)
            nisa.tensor_scalar(dst=shifted, data=scaled, op0=nl.add, operand0=offset)
            nisa.dma_copy(dst=out[r : r + P, c : c + 256], src=shifted)
    return out


@nki.jit
def gated(a, b):
    """Return silu(a) * b, computed as a * sigmoid(a) * b."""
    out = _hbm(a.shape, a.dtype)
    for r in range(0, a.shape[0], P):
        for c in range(0, a.shape[1], 256):
            x = _load(a[r : r + P, c : c + 256])
            y = _load(b[r : r + P, c : c + 256])
            gate = _tile(P, 256)
            nisa.activation(dst=gate, data=x, op=nl.sigmoid)
            product = _tile(P, 256)
            nisa.tensor_tensor(dst=product, data1=x, data2=gate, op=nl.multiply)
            result = _tile(P, 256, a.dtype)
            nisa.tensor_tensor(dst=result, data1=product, data2=y, op=nl.multiply)
            nisa.dma_copy(dst=out[r : r + P, c : c + 256], src=result)
    return out


@nki.jit
def softmax(x):
    """Return the softmax of each row, with an instruction for each operator."""
    rows, columns = x.shape
    out = _hbm(x.shape, x.dtype)
    for r in range(0, rows, P):
        tile = _load(x[r : r + P, :])
        largest = _tile(P, 1)
        nisa.tensor_reduce(dst=largest, op=nl.maximum, data=tile, axis=1)
        centred = _tile(P, columns)
        nisa.tensor_scalar(dst=centred, data=tile, op0=nl.subtract, operand0=largest)
        powers = _tile(P, columns)
        nisa.activation(dst=powers, data=centred, op=nl.exp)
        total = _tile(P, 1)
        nisa.tensor_reduce(dst=total, op=nl.add, data=powers, axis=1)
        inverse = _tile(P, 1)
        nisa.reciprocal(dst=inverse, data=total)
        result = _tile(P, columns, x.dtype)
        nisa.tensor_scalar(dst=result, data=powers, op0=nl.multiply, operand0=inverse)
        nisa.dma_copy(dst=out[r : r + P, :], src=result)
    return out


@nki.jit
def layernorm(x, gamma, beta):
    """Return the layer norm of each row; gamma and beta are loaded for each tile of rows."""
    rows, columns = x.shape
    out = _hbm(x.shape, x.dtype)
    for r in range(0, rows, P):
        tile = _load(x[r : r + P, :])
        weights = _tile(P, columns)
        nisa.dma_copy(dst=weights, src=gamma.ap([[0, P], [1, columns]]))
        shifts = _tile(P, columns)
        nisa.dma_copy(dst=shifts, src=beta.ap([[0, P], [1, columns]]))
        mean = _tile(P, 1)
        nisa.tensor_reduce(dst=mean, op=nl.add, data=tile, axis=1)
        nisa.tensor_scalar(dst=mean, data=mean, op0=nl.multiply, operand0=1 / columns)
        centred = _tile(P, columns)
        nisa.tensor_scalar(dst=centred, data=tile, op0=nl.subtract, operand0=mean)
        squares = _tile(P, columns)
        nisa.tensor_tensor(dst=squares, data1=centred, data2=centred, op=nl.multiply)
        variance = _tile(P, 1)
        nisa.tensor_reduce(dst=variance, op=nl.add, data=squares, axis=1)
        nisa.tensor_scalar(dst=variance, data=variance, op0=nl.multiply, operand0=1 / columns)
        nisa.tensor_scalar(dst=variance, data=variance, op0=nl.add, operand0=1e-5)
        factor = _tile(P, 1)
        nisa.activation(dst=factor, data=variance, op=nl.rsqrt)
        normal = _tile(P, columns)
        nisa.tensor_scalar(dst=normal, data=centred, op0=nl.multiply, operand0=factor)
        weighted = _tile(P, columns)
        nisa.tensor_tensor(dst=weighted, data1=normal, data2=weights, op=nl.multiply)
        result = _tile(P, columns, x.dtype)
        nisa.tensor_tensor(dst=result, data1=weighted, data2=shifts, op=nl.add)
        nisa.dma_copy(dst=out[r : r + P, :], src=result)
    return out


@nki.jit
def rmsnorm(x, gamma):
    """Return the RMS norm of each row; gamma is loaded for each tile of rows."""
    rows, columns = x.shape
    out = _hbm(x.shape, x.dtype)
    for r in range(0, rows, P):
        tile = _load(x[r : r + P, :])
        weights = _tile(P, columns)
        nisa.dma_copy(dst=weights, src=gamma.ap([[0, P], [1, columns]]))
        squares = _tile(P, columns)
        nisa.tensor_tensor(dst=squares, data1=tile, data2=tile, op=nl.multiply)
        total = _tile(P, 1)
        nisa.tensor_reduce(dst=total, op=nl.add, data=squares, axis=1)
        mean = _tile(P, 1)
        nisa.tensor_scalar(dst=mean, data=total, op0=nl.multiply, operand0=1 / columns)
        factor = _tile(P, 1)
        nisa.activation(dst=factor, data=mean, op=nl.rsqrt)
        normal = _tile(P, columns)
        nisa.tensor_scalar(dst=normal, data=tile, op0=nl.multiply, operand0=factor)
        result = _tile(P, columns, x.dtype)
        nisa.tensor_tensor(dst=result, data1=normal, data2=weights, op=nl.multiply)
        nisa.dma_copy(dst=out[r : r + P, :], src=result)
    return out


@nki.jit
def matmul(a, b):
    """Return a.T @ b; both operands are loaded in the innermost loop."""
    out = _hbm((a.shape[1], b.shape[1]), a.dtype)
    for m in range(0, a.shape[1], P):
        for n in range(0, b.shape[1], 512):
            product = nl.ndarray((P, 512), F32, buffer=nl.psum)
            for k in range(0, a.shape[0], P):
                lhs = _load(a[k : k + P, m : m + P])
                rhs = _load(b[k : k + P, n : n + 512])
                nisa.nc_matmul(dst=product, stationary=lhs, moving=rhs, accumulate=k > 0)
            result = _tile(P, 512, a.dtype)
            nisa.tensor_copy(dst=result, src=product)
            nisa.dma_copy(dst=out[m : m + P, n : n + 512], src=result)
    return out


@nki.jit
def matmul_sums(a, b):
    """Return a.T @ b; partial products are added in SBUF."""
    out = _hbm((a.shape[1], b.shape[1]), a.dtype)
    for m in range(0, a.shape[1], P):
        for n in range(0, b.shape[1], 512):
            total = _tile(P, 512)
            nisa.memset(dst=total, value=0.0)
            for k in range(0, a.shape[0], P):
                lhs = _load(a[k : k + P, m : m + P])
                rhs = _load(b[k : k + P, n : n + 512])
                product = nl.ndarray((P, 512), F32, buffer=nl.psum)
                nisa.nc_matmul(dst=product, stationary=lhs, moving=rhs)
                nisa.tensor_tensor(dst=total, data1=total, data2=product, op=nl.add)
            result = _tile(P, 512, a.dtype)
            nisa.tensor_copy(dst=result, src=total)
            nisa.dma_copy(dst=out[m : m + P, n : n + 512], src=result)
    return out


@nki.jit
def matmul_rows(a, b):
    """Return a @ b; the tiles of a are transposed by loads of single elements."""
    out = _hbm((a.shape[0], b.shape[1]), a.dtype)
    depth = a.shape[1]
    for m in range(0, a.shape[0], P):
        for n in range(0, b.shape[1], 512):
            product = nl.ndarray((P, 512), F32, buffer=nl.psum)
            for k in range(0, depth, P):
                lhs = _tile(P, P, a.dtype)
                nisa.dma_copy(dst=lhs, src=a.ap([[1, P], [depth, P]], offset=m * depth + k))
                rhs = _load(b[k : k + P, n : n + 512])
                nisa.nc_matmul(dst=product, stationary=lhs, moving=rhs, accumulate=k > 0)
            result = _tile(P, 512, a.dtype)
            nisa.tensor_copy(dst=result, src=product)
            nisa.dma_copy(dst=out[m : m + P, n : n + 512], src=result)
    return out


@nki.jit
def transpose(x):
    """Return x.T, by loads of columns."""
    rows, columns = x.shape
    out = _hbm((columns, rows), x.dtype)
    for c in range(0, columns, P):
        for r in range(0, rows, P):
            tile = _tile(P, P, x.dtype)
            nisa.dma_copy(dst=tile, src=x.ap([[1, P], [columns, P]], offset=r * columns + c))
            nisa.dma_copy(dst=out[c : c + P, r : r + P], src=tile)
    return out


@nki.jit
def mlp(x, up, down):
    """Return down.T @ relu(up.T @ x) of a batch of columns; weights are loaded for each block."""
    inner, columns = up.shape[1], x.shape[1]
    out = _hbm((down.shape[1], columns), x.dtype)
    for n in range(0, columns, 512):
        hidden = []
        for m in range(0, inner, P):
            product = nl.ndarray((P, 512), F32, buffer=nl.psum)
            for k in range(0, x.shape[0], P):
                weights = _load(up[k : k + P, m : m + P])
                data = _load(x[k : k + P, n : n + 512])
                nisa.nc_matmul(dst=product, stationary=weights, moving=data, accumulate=k > 0)
            relu = _tile(P, 512, x.dtype)
            nisa.activation(dst=relu, data=product, op=nl.relu)
            hidden.append(relu)
        for m in range(0, down.shape[1], P):
            product = nl.ndarray((P, 512), F32, buffer=nl.psum)
            for k in range(0, inner, P):
                weights = _load(down[k : k + P, m : m + P])
                nisa.nc_matmul(
                    dst=product, stationary=weights, moving=hidden[k // P], accumulate=k > 0
                )
            result = _tile(P, 512, x.dtype)
            nisa.tensor_copy(dst=result, src=product)
            nisa.dma_copy(dst=out[m : m + P, n : n + 512], src=result)
    return out


@nki.jit
def adamw(p, g, m, v):
    """Return the parameters and moments after a step of AdamW, in tiles of 128 x 128."""
    outs = [_hbm(p.shape, p.dtype) for _ in range(3)]
    for r in range(0, p.shape[0], P):
        for c in range(0, p.shape[1], 128):
            part = slice(r, r + P), slice(c, c + 128)
            weight, gradient, first, second = (_load(t[part]) for t in (p, g, m, v))
            one, two, scaled, squared = (_tile(P, 128) for _ in range(4))
            nisa.tensor_scalar(dst=one, data=first, op0=nl.multiply, operand0=0.9)
            nisa.tensor_scalar(dst=scaled, data=gradient, op0=nl.multiply, operand0=0.1)
            nisa.tensor_tensor(dst=one, data1=one, data2=scaled, op=nl.add)
            nisa.tensor_tensor(dst=squared, data1=gradient, data2=gradient, op=nl.multiply)
            nisa.tensor_scalar(dst=two, data=second, op0=nl.multiply, operand0=0.99)
            nisa.tensor_scalar(dst=squared, data=squared, op0=nl.multiply, operand0=0.01)
            nisa.tensor_tensor(dst=two, data1=two, data2=squared, op=nl.add)
            root, step, decayed, result = (_tile(P, 128) for _ in range(4))
            nisa.activation(dst=root, data=two, op=nl.sqrt)
            nisa.tensor_scalar(dst=root, data=root, op0=nl.add, operand0=1e-8)
            nisa.reciprocal(dst=root, data=root)
            nisa.tensor_tensor(dst=step, data1=one, data2=root, op=nl.multiply)
            nisa.tensor_scalar(dst=step, data=step, op0=nl.multiply, operand0=1e-3)
            nisa.tensor_scalar(dst=decayed, data=weight, op0=nl.multiply, operand0=0.999)
            nisa.tensor_tensor(dst=result, data1=decayed, data2=step, op=nl.subtract)
            for out, tile in zip(outs, (result, one, two), strict=True):
                nisa.dma_copy(dst=out[part], src=tile)
    return tuple(outs)


@nki.jit
def conv2d(x, weights):
    """Return a convolution without padding; each output row loads its input and the weights."""
    images, inside, height, width = x.shape
    outside, _, size, _ = weights.shape
    rows, columns = height - size + 1, width - size + 1
    out = _hbm((images, outside, rows, columns), x.dtype)
    for image in range(images):
        for row in range(rows):
            product = nl.ndarray((outside, columns), F32, buffer=nl.psum)
            for i in range(size):
                for j in range(size):
                    kernel = _tile(inside, outside, x.dtype)
                    taps = [[size * size, inside], [inside * size * size, outside]]
                    nisa.dma_copy(dst=kernel, src=weights.ap(taps, offset=i * size + j))
                    data = _load(x[image, :, row + i, j : j + columns])
                    nisa.nc_matmul(
                        dst=product, stationary=kernel, moving=data, accumulate=i + j > 0
                    )
            result = _tile(outside, columns, x.dtype)
            nisa.tensor_copy(dst=result, src=product)
            nisa.dma_copy(dst=out[image, :, row, :], src=result)
    return out


@nki.jit
def bmm(a, b):
    """Return a[i].T @ b[i] for each i; operands are loaded in the innermost loop."""
    out = _hbm((a.shape[0], a.shape[2], b.shape[2]), a.dtype)
    for i in range(a.shape[0]):
        for m in range(0, a.shape[2], P):
            product = nl.ndarray((P, b.shape[2]), F32, buffer=nl.psum)
            for k in range(0, a.shape[1], P):
                lhs = _load(a[i, k : k + P, m : m + P])
                rhs = _load(b[i, k : k + P, :])
                nisa.nc_matmul(dst=product, stationary=lhs, moving=rhs, accumulate=k > 0)
            result = _tile(P, b.shape[2], a.dtype)
            nisa.tensor_copy(dst=result, src=product)
            nisa.dma_copy(dst=out[i, m : m + P, :], src=result)
    return out


@nki.jit
def attention(q, k, v):
    """Return softmax(q.T @ k) @ v of one head; q and k are (128, tokens), v is (tokens, 128)."""
    tokens = q.shape[1]
    out = _hbm(v.shape, v.dtype)
    for r in range(0, tokens, P):
        scores = _tile(P, tokens)
        for c in range(0, tokens, 512):
            queries = _load(q[:, r : r + P])
            keys = _load(k[:, c : c + 512])
            product = nl.ndarray((P, 512), F32, buffer=nl.psum)
            nisa.nc_matmul(dst=product, stationary=queries, moving=keys)
            nisa.tensor_copy(dst=scores[:, c : c + 512], src=product)
        largest = _tile(P, 1)
        nisa.tensor_reduce(dst=largest, op=nl.maximum, data=scores, axis=1)
        centred = _tile(P, tokens)
        nisa.tensor_scalar(dst=centred, data=scores, op0=nl.subtract, operand0=largest)
        powers = _tile(P, tokens)
        nisa.activation(dst=powers, data=centred, op=nl.exp)
        total = _tile(P, 1)
        nisa.tensor_reduce(dst=total, op=nl.add, data=powers, axis=1)
        inverse = _tile(P, 1)
        nisa.reciprocal(dst=inverse, data=total)
        weights = _tile(P, tokens, v.dtype)
        nisa.tensor_scalar(dst=weights, data=powers, op0=nl.multiply, operand0=inverse)
        result = nl.ndarray((P, P), F32, buffer=nl.psum)
        for c in range(0, tokens, P):
            turned = nl.ndarray((P, P), v.dtype, buffer=nl.psum)
            nisa.nc_transpose(dst=turned, data=weights[:, c : c + P])
            columns = _tile(P, P, v.dtype)
            nisa.tensor_copy(dst=columns, src=turned)
            values = _load(v[c : c + P, :])
            nisa.nc_matmul(dst=result, stationary=columns, moving=values, accumulate=c > 0)
        stored = _tile(P, P, v.dtype)
        nisa.tensor_copy(dst=stored, src=result)
        nisa.dma_copy(dst=out[r : r + P, :], src=stored)
    return out
