import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    bound = nl.full((128, 1), 2.0**24, dtype=nl.float32)
    nisa.range_select(
        dst=tile,
        on_true_tile=tile,
        comp_op0=nl.less,
        comp_op1=nl.less,
        bound0=bound,
        bound1=bound,
        range_start=2**24,
    )
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    bound = nl.full((128, 1), 0.0, dtype=nl.float32)
    nisa.range_select(
        dst=tile,
        on_true_tile=tile,
        comp_op0=nl.less,
        comp_op1=nl.less,
        bound0=bound,
        bound1=bound,
        range_start=0,
    )
    nl.store(out, tile)
    return out


FINDING = r"""
error[index-range]: nisa.range_select: indices run from 16777216 to 16777727, float32 has every integer only up to 16777216
  --> index-range.py:14:22
    |
 14 |         on_true_tile=tile,
    |                      ^^^^
   = on_true_tile: %tile, sbuf 128x512 float32, allocated at index-range.py:10:12
   = help: move range_start and the bounds closer to 0 by the same number
"""
