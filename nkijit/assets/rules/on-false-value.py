import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    low, high = nl.full((128, 1), 64.0, nl.float32), nl.full((128, 1), 448.0, nl.float32)
    nisa.range_select(
        dst=tile,
        on_true_tile=tile,
        comp_op0=nl.greater_equal,
        comp_op1=nl.less,
        bound0=low,
        bound1=high,
        on_false_value=0.0,
    )
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    low, high = nl.full((128, 1), 64.0, nl.float32), nl.full((128, 1), 448.0, nl.float32)
    nisa.range_select(
        dst=tile,
        on_true_tile=tile,
        comp_op0=nl.greater_equal,
        comp_op1=nl.less,
        bound0=low,
        bound1=high,
    )
    nl.store(out, tile)
    return out


FINDING = r"""
error[on-false-value]: nisa.range_select: 'on_false_value' must be -3.4028235e+38, it is 0.0
  --> on-false-value.py:19:24
    |
 19 |         on_false_value=0.0,
    |                        ^^^
   = help: leave on_false_value out
"""
