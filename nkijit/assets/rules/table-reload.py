import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="512x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(0, 512, 128):
        tile = nl.load(x[i : i + 128])
        nisa.activation(dst=tile, op=nl.exp, data=tile)
        nisa.activation(dst=tile, op=nl.silu, data=tile)
        nl.store(out[i : i + 128], tile)
    return out


@nki.example(x="512x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = [nl.load(x[i : i + 128]) for i in range(0, 512, 128)]
    for tile in tiles:
        nisa.activation(dst=tile, op=nl.exp, data=tile)
    for i, tile in enumerate(tiles):
        nisa.activation(dst=tile, op=nl.silu, data=tile)
        nl.store(out[128 * i : 128 * i + 128], tile)
    return out


FINDING = r"""
warning[table-reload]: nisa.activation: loads the table of nl.exp again, which the table of nl.silu has replaced: about 1536 cycles
  --> table-reload.py:12:9
    |
 12 |         nisa.activation(dst=tile, op=nl.exp, data=tile)
    |         ^^^^^^^^^^^^^^^
  ::: table-reload.py:13:9
    |
 13 |         nisa.activation(dst=tile, op=nl.silu, data=tile)
    |         --------------- loads the table of nl.silu
   = the same finding 3 times at this place, in an unrolled loop or call
   = help: do all of one function before the next: split the loop in two, one for each function
"""
