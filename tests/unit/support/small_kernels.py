"""Small kernels that tests of tools are about."""

from __future__ import annotations

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

TENSOR = nki.TensorSpec((128, 64), "float32")


@nki.jit
def scaled_gelu(x, scale=2.0):
    """A load, an activation and a store for each 128 rows."""
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, 128):
        part = slice(start, start + 128)
        tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[part])
        nisa.activation(dst=tile, op=nl.gelu, data=tile, scale=scale)
        nisa.dma_copy(dst=out[part], src=tile)
    return out


@nki.jit
def wrong_buffers(x):
    """One error of the rule `buffer`, in the line of `tensor_copy`, and none else."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nisa.tensor_copy(dst=out, src=x[0:128])  # the line
    return out


@nki.jit
def no_such_view(x):
    """A view that cannot exist, which ends the trace."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x[0 : x.shape[0] + 1])
    return out


@nki.jit
def redundant_fill(x):
    """One warning, of the rule `redundant-fill`."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=0.0)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile)
    return out
