import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x, dge_mode=3)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x, dge_mode=nisa.dge_mode.none)
    return out


FINDING = r"""
warning[portable-enum-number]: nisa.dma_copy: 'dge_mode' is the number 3, which stands for dge_mode.none
  --> portable-enum-number.py:10:44
    |
 10 |     nisa.dma_copy(dst=out, src=x, dge_mode=3)
    |                                            ^
   = help: write nisa.dge_mode.none
"""
