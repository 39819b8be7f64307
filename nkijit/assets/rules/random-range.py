import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def wrong():
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.rand2(dst=tile, min=1.0, max=-1.0)
    nl.store(out, tile)
    return out


@nki.jit
def right():
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.rand2(dst=tile, min=-1.0, max=1.0)
    nl.store(out, tile)
    return out


FINDING = r"""
error[random-range]: nisa.rand2: 'min' is 1, 'max' is -1
  --> random-range.py:10:30
    |
 10 |     nisa.rand2(dst=tile, min=1.0, max=-1.0)
    |                              ^^^
   = help: pass numbers with min below max
"""
