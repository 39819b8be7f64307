import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x128:float32")
@nki.jit
def wrong(x):
    product = nl.matmul(x, x)
    out = nl.ndarray(product.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(out, nl.copy(product))
    return out


@nki.example(x="128x128:float32")
@nki.jit
def right(x):
    tile = nl.load(x)
    product = nl.matmul(tile, tile)
    out = nl.ndarray(product.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(out, nl.copy(product))
    return out


FINDING = r"""
error[buffer]: nl.matmul: 'x' must be in sbuf, it is in private_hbm
  --> buffer.py:8:25
   |
 8 |     product = nl.matmul(x, x)
   |                         ^
   = help: load it first, e.g. tile = nl.load(x), and pass the tile
"""
