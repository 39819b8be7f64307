import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x, engine=nisa.engine.sync)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x, dge_mode=nisa.dge_mode.hwdge, engine=nisa.engine.sync)
    nl.store(out, tile)
    return out


FINDING = r"""
error[dma-arguments]: nisa.dma_copy: 'engine' goes with dge_mode.hwdge only, 'dge_mode' is unknown
  --> dma-arguments.py:11:43
    |
 11 |     nisa.dma_copy(dst=tile, src=x, engine=nisa.engine.sync)
    |                                           ^^^^^^^^^^^^^^^^
   = help: leave priority= and engine= out; or pass priority=0 to 3, and engine=nisa.engine.sync together with dge_mode=nisa.dge_mode.hwdge
"""
