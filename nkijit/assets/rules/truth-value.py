import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    if tile:
        tile = nl.exp(tile)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    if x.shape[1] > 1:
        tile = nl.exp(tile)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[truth-value]: tensor 'tile': a tensor counts as true
  --> truth-value.py:10:8
    |
 10 |     if tile:
    |        ^^^^
   = help: ask what is known while tracing: t is None, t.shape, t.dtype; choose by values with nl.where
"""
