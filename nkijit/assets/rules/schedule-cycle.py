import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    exp = nisa.activation(dst=tile, op=nl.exp, data=tile)
    store = nisa.dma_copy(dst=out, src=tile)
    exp.depends_on(store)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    exp = nisa.activation(dst=tile, op=nl.exp, data=tile)
    store = nisa.dma_copy(dst=out, src=tile)
    store.depends_on(exp)
    return out


FINDING = r"""
error[schedule-cycle]: nisa.activation: runs after 'dma_copy.0', which needs what this instruction does
  --> schedule-cycle.py:11:11
    |
 11 |     exp = nisa.activation(dst=tile, op=nl.exp, data=tile)
    |           ^^^^^^^^^^^^^^^
  ::: schedule-cycle.py:12:13
    |
 12 |     store = nisa.dma_copy(dst=out, src=tile)
    |             ------------- 'dma_copy.0'
   = help: remove one of the edges that the message names (with_schedule, depends_on)
"""
