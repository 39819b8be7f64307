"""A kernel as authors write them, in which type checkers find nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

import nki
import nki.isa as nisa
import nki.language as nl


def halved(tile: nl.NkiTensor) -> nl.NkiTensor:
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(out, tile, nl.multiply, 0.5, op1=np.add, operand1=1)
    return out


@nki.jit
def scaled(x: Any, scale: float = 2.0, *, rows: int = 128) -> Any:
    out = nl.ndarray(x.shape, dtype=np.float32, buffer=nl.shared_hbm)
    tile = nl.ndarray((rows, 512), nl.bfloat16)
    nisa.dma_copy(dst=tile, src=x)
    nisa.activation(dst=tile, op=nl.gelu, data=halved(tile), scale=scale)
    total = nl.sum(nl.add(tile, 1.0), axis=1, keepdims=True)
    nisa.nc_matmul(nl.zeros((128, 512), nl.float32, buffer=nl.psum), tile[:, 0:128], tile)
    nl.store(out, nl.where(nl.greater(tile, 0), total, -1.0))
    for i in nl.affine_range(4):
        nisa.memset(tile[i : i + 1], value=0.0)
    return out


@nki.jit(platform_target="trn2")
def with_options(x: Any, *, axis: int) -> Any:
    return nl.softmax(nl.load(x), axis=axis)


class Model:
    @nki.jit
    def forward(self, x: Any, scale: float) -> Any:
        return x


X = np.ones((128, 512), np.float32)
scaled(X, 3)
scaled[2](X, scale=3.0)
nki.simulate(scaled)(X, rows=64)
with_options(X, axis=-1)
scaled.for_target("trn2").trace(nki.TensorSpec((128, 512), "float32"), 3.0)
Model().forward(X, 2.0)
