import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.reciprocal(dst=tile[10:128], data=tile[10:128])
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.reciprocal(dst=tile[0:128], data=tile[0:128])
    nl.store(out, tile)
    return out


FINDING = r"""
error[start-partition]: nisa.reciprocal: 'dst' starts at partition 10; with 118 partitions it can start at 0
  --> start-partition.py:11:25
    |
 11 |     nisa.reciprocal(dst=tile[10:128], data=tile[10:128])
    |                         ^^^^^^^^^^^^
   = dst: %tile, sbuf 118x512 float32, a view of %tile (sbuf 128x512 float32), allocated at start-partition.py:10:12
   = help: give the rows a tile of their own, or move them to a legal partition with nisa.dma_copy
"""
