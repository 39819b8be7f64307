import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    tile = tile.clip(0, 1)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    tile = nl.minimum(nl.maximum(tile, 0), 1)
    nl.store(out, tile)
    return out


FINDING = r"""
error[python-on-tensor]: tensor 'tile': it has no 'clip'
  --> python-on-tensor.py:10:12
    |
 10 |     tile = tile.clip(0, 1)
    |            ^^^^^^^^^
   = Python: 'NkiTensor' object has no attribute 'clip'
   = help: write nl.minimum(nl.maximum(tile, low), high)
"""
