import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    parts = tile.reshape((128, 2, 2, 2, 2, 32)).permute((0, 4, 3, 2, 1, 5))
    nisa.reciprocal(dst=parts, data=parts)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.reciprocal(dst=tile, data=tile)
    nl.store(out, tile)
    return out


FINDING = r"""
error[access-pattern]: nisa.reciprocal: 'dst' needs 5 dimensions to be walked in a partition, an engine has 4
  --> access-pattern.py:12:25
    |
 12 |     nisa.reciprocal(dst=parts, data=parts)
    |                         ^^^^^
   = dst: %tile, sbuf 128x2x2x2x2x32 float32, a view of %tile (sbuf 128x512 float32), allocated at access-pattern.py:10:12
   = help: use several instructions, or copy the elements to a tile of their own with nisa.dma_copy
"""
