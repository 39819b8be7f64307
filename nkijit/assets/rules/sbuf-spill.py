import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="16x128x4096:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = []
    for i in range(16):
        tile = nl.load(x[i])
        tiles.append(tile)
    for i in range(16):
        nisa.activation(dst=tiles[i], op=nl.exp, data=tiles[i])
        nl.store(out[i], tiles[i])
    return out


@nki.example(x="16x128x4096:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(16):
        tile = nl.load(x[i])
        nisa.activation(dst=tile, op=nl.exp, data=tile)
        nl.store(out[i], tile)
    return out


FINDING = r"""
warning[sbuf-spill]: nl.load: the tiles in use here need 262144 bytes per partition of SBUF, trn3 has 245752 for a kernel; a compiler fills some of them later
  --> sbuf-spill.py:12:16
    |
 12 |         tile = nl.load(x[i])
    |                ^^^^^^^
   = tile   shape and type         bytes  in use          allocated at
   = %tile  128x4096 float32  16 x 16384  lines 12 to 16  sbuf-spill.py:12:16
   = nl.load is implemented with nisa.dma_copy
   = help: keep at most 14 of the 16 tiles 'tile' in use at a time
"""
