import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    whole = x.shape[1] // 256 * 256
    nisa.dma_copy(dst=out[:, 0:whole], src=tile[:, 0:whole])
    nisa.dma_copy(dst=out[:, whole:512], src=tile[:, whole:512])
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    whole = x.shape[1] // 256 * 256
    nisa.dma_copy(dst=out[:, 0:whole], src=tile[:, 0:whole])
    if whole < x.shape[1]:
        nisa.dma_copy(dst=out[:, whole:512], src=tile[:, whole:512])
    return out


FINDING = r"""
warning[empty-slice]: nisa.dma_copy: 'out[:, whole:512]' (128, 0) is empty, so the instruction is left out
  --> empty-slice.py:13:23
    |
 13 |     nisa.dma_copy(dst=out[:, whole:512], src=tile[:, whole:512])
    |                       ^^^^^^^^^^^^^^^^^
   = help: nothing to do if the slice is meant to be empty here, e.g. after the last whole tile
"""
