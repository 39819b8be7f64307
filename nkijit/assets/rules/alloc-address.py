import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(64, 0))
    nisa.dma_copy(dst=tile, src=x)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 64))
    nisa.dma_copy(dst=tile, src=x)
    nl.store(out, tile)
    return out


FINDING = r"""
error[alloc-address]: nl.ndarray: at address (64, 0) the tile reaches partition 192 of 128
  --> alloc-address.py:10:12
    |
 10 |     tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(64, 0))
    |            ^^^^^^^^^^
   = result: %tile, sbuf 128x512 float32, allocated at alloc-address.py:10:12
   = help: write address=(0, 0) or a smaller partition
"""
