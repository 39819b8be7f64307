import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i, j = nl.arange(128)[:, None], nl.arange(512)[None, :]
    tile = nl.load(x[i, j], mask=j < 500)
    nl.store(out, nl.exp(tile))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i, j = nl.arange(128)[:, None], nl.arange(512)[None, :]
    nl.store(out, nl.exp(nl.load(x[i, j])))
    return out


FINDING = r"""
warning[read-masked]: nl.store: 'out', which is returned, gets undefined values in its elements [0:128, 500:512]
  --> read-masked.py:12:14
    |
 12 |     nl.store(out, nl.exp(tile))
    |              ^^^
  ::: read-masked.py:12:19
    |
 12 |     nl.store(out, nl.exp(tile))
    |                   ------ 'data' is read here, but nothing has written its elements [0:128, 500:512]
   = dst: %out, shared_hbm 128x512 float32, allocated at read-masked.py:9:11
   = data: %tile, sbuf 128x512 float32, allocated at read-masked.py:11:12
   = nl.store is implemented with nisa.dma_copy
   = help: give the same mask to what reads the tile, or fill the tile first
"""
