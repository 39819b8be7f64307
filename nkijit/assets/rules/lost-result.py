import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    doubled = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, tile)
    nl.store(doubled, nl.multiply(tile, 2.0))
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    doubled = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, tile)
    nl.store(doubled, nl.multiply(tile, 2.0))
    return out, doubled


FINDING = r"""
warning[lost-result]: nl.ndarray: 'doubled' (shared_hbm 128x512 float32) is written, but not returned or read
  --> lost-result.py:9:15
   |
 9 |     doubled = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
   |               ^^^^^^^^^^
  ::: lost-result.py:12:5
    |
 12 |     nl.store(doubled, nl.multiply(tile, 2.0))
    |     -------- written here
   = help: return the tensor too, e.g. return out, stats; or remove it with what writes it
"""
