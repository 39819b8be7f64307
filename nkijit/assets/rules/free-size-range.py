import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    best = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.sbuf)
    nisa.max8(dst=best, src=tile[:, 0:4])
    nl.store(out, best)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    best = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.sbuf)
    nisa.max8(dst=best, src=tile)
    nl.store(out, best)
    return out


FINDING = r"""
error[free-size-range]: nisa.max8: 'src' must have 8 to 16384 elements per partition, it has 4
  --> free-size-range.py:12:29
    |
 12 |     nisa.max8(dst=best, src=tile[:, 0:4])
    |                             ^^^^^^^^^^^^
   = src: %tile, sbuf 128x4 float32, a view of %tile (sbuf 128x512 float32), allocated at free-size-range.py:10:12
   = help: slice the tile to a size in the range, or split the work over several instructions
"""
