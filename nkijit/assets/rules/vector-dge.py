import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="1024x512:float32", index="128x1:int32")
@nki.jit
def wrong(x, index):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = x.ap([[512, 128], [1, 512]], vector_offset=nl.load(index))
    tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=rows, dge_mode=nisa.dge_mode.hwdge)
    nl.store(out, tile)
    return out


@nki.example(x="1024x512:float32", index="128x1:int32")
@nki.jit
def right(x, index):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = x.ap([[512, 128], [1, 512]], vector_offset=nl.load(index))
    tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=rows, dge_mode=nisa.dge_mode.swdge)
    nl.store(out, tile)
    return out


FINDING = r"""
error[vector-dge]: nisa.dma_copy: 'dge_mode' is hwdge, a vector of indices needs swdge or unknown
  --> vector-dge.py:12:48
    |
 12 |     nisa.dma_copy(dst=tile, src=rows, dge_mode=nisa.dge_mode.hwdge)
    |                                                ^^^^^^^^^^^^^^^^^^^
   = help: leave dge_mode out, or pass dge_mode=nisa.dge_mode.swdge
"""
