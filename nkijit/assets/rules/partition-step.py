import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.reciprocal(dst=tile[0:128:2], data=tile[0:128:2])
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.reciprocal(dst=tile[0:64], data=tile[0:64])
    nl.store(out, tile)
    return out


FINDING = r"""
error[partition-step]: nki.view: the partition dimension of the view has a step of 2
  --> partition-step.py:11:5
    |
 11 |     nisa.reciprocal(dst=tile[0:128:2], data=tile[0:128:2])
    |     ^^^^^^^^^^^^^^^
   = result: %tile, sbuf 64x512 float32, a view of %tile (sbuf 128x512 float32), allocated at partition-step.py:10:12
   = help: slice a run of partitions, or move rows with nisa.dma_copy to and from HBM
"""
