import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 300000))
    nisa.dma_copy(dst=tile, src=x)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 0))
    nisa.dma_copy(dst=tile, src=x)
    nl.store(out, tile)
    return out


FINDING = r"""
error[address-capacity]: nl.ndarray: at address (0, 300000) the tile reaches byte 302048 of 245752
  --> address-capacity.py:10:12
    |
 10 |     tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 300000))
    |            ^^^^^^^^^^
   = result: %tile, sbuf 128x512 float32, allocated at address-capacity.py:10:12
   = help: begin at byte 243704 or before, or leave address= out
"""
