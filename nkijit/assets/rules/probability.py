import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.dropout(dst=tile, data=tile, prob=10)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.dropout(dst=tile, data=tile, prob=0.1)
    nl.store(out, tile)
    return out


FINDING = r"""
error[probability]: nisa.dropout: 'prob' must be 0 to 1, it is 10
  --> probability.py:11:44
    |
 11 |     nisa.dropout(dst=tile, data=tile, prob=10)
    |                                            ^^
   = help: pass a fraction, e.g. 0.1 for ten percent
"""
