"""Kernels whose profiles are checked, with the lines that they are in."""

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def add_one(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(tile, tile, nl.add, 1.0, engine=nisa.engine.vector)
    nisa.dma_copy(out, tile)
    return out


@nki.jit
def looped(x, bound):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    limit = nl.load(bound)
    count = nisa.register_alloc(0)
    nisa.register_load(count, limit)
    tile = nl.load(x)
    for _ in nl.dynamic_range(0, count, 1):
        nisa.tensor_scalar(tile, tile, nl.add, 1.0, engine=nisa.engine.vector)
    nisa.dma_copy(out, tile)
    return out


@nki.jit
def product(x):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(total, tile[:, 0:128], tile)
    result = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(result, total, engine=nisa.engine.vector)
    nisa.dma_copy(out, result)
    return out


@nki.jit
def wrong(x):
    tile = nl.load(x)
    nisa.tensor_copy(dst=x, src=tile)
