import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.activation(dst=tile, op=nl.exp, data=tile)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.activation(dst=tile, op=nl.exp, data=tile)
    nl.store(out, tile)
    return out


FINDING = r"""
error[read-unwritten]: nisa.activation: 'data' is read, but nothing has written it
  --> read-unwritten.py:11:47
    |
 11 |     nisa.activation(dst=tile, op=nl.exp, data=tile)
    |                                               ^^^^
   = data: %tile, sbuf 128x512 float32, allocated at read-unwritten.py:10:12
   = help: write tile first, e.g. with nisa.memset or nisa.dma_copy
"""
