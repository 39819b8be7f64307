import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    if x:
        tile = nl.exp(tile)
    nl.store(out, tile)
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    if x is not None:
        tile = nl.exp(tile)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[parameter-truth-value]: tensor 'x': a tensor parameter counts as true
  --> parameter-truth-value.py:11:8
    |
 11 |     if x:
    |        ^
   = help: compare with `is not None`
"""
