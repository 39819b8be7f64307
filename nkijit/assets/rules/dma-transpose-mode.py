import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x64:bfloat16")
@nki.jit
def wrong(x):
    out = nl.ndarray((64, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((64, 128), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(dst=tile, src=x, dge_mode=nisa.dge_mode.swdge)
    nl.store(out, tile)
    return out


@nki.example(x="128x64:bfloat16")
@nki.jit
def right(x):
    out = nl.ndarray((64, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((64, 128), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(dst=tile, src=x)
    nl.store(out, tile)
    return out


FINDING = r"""
error[dma-transpose-mode]: nisa.dma_transpose: 'dge_mode' must be unknown or hwdge, it is swdge
  --> dma-transpose-mode.py:11:50
    |
 11 |     nisa.dma_transpose(dst=tile, src=x, dge_mode=nisa.dge_mode.swdge)
    |                                                  ^^^^^^^^^^^^^^^^^^^
   = help: leave dge_mode= and oob_mode= out
"""
