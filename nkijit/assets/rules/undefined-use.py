import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile[:, 0:500], src=x[:, 0:500])
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
error[undefined-use]: nl.store: 'out', which is returned, gets undefined values in its elements [0:128, 500:512]
  --> undefined-use.py:13:14
    |
 13 |     nl.store(out, tile)
    |              ^^^  ^^^^
  ::: undefined-use.py:12:5
    |
 12 |     nisa.activation(dst=tile, op=nl.exp, data=tile)
    |     --------------- 'data' is read here, but nothing has written its elements [0:128, 500:512]
   = dst: %out, shared_hbm 128x512 float32, allocated at undefined-use.py:9:11
   = value: %tile, sbuf 128x512 float32, allocated at undefined-use.py:10:12
   = nl.store is implemented with nisa.dma_copy
   = help: write all of the tile first, e.g. with nisa.memset or nisa.dma_copy, or use only the part that is written
"""
