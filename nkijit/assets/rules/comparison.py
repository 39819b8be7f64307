import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.affine_select(
        dst=tile,
        pattern=[[-1, 512]],
        channel_multiplier=1,
        on_true_tile=tile,
        on_false_value=0.0,
        cmp_op=nl.maximum,
    )
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.affine_select(
        dst=tile,
        pattern=[[-1, 512]],
        channel_multiplier=1,
        on_true_tile=tile,
        on_false_value=0.0,
        cmp_op=nl.greater_equal,
    )
    nl.store(out, tile)
    return out


FINDING = r"""
error[comparison]: nisa.affine_select: 'cmp_op' must be nl.equal, nl.not_equal, nl.greater_equal, nl.greater, nl.less_equal or nl.less, it is nl.maximum
  --> comparison.py:17:16
    |
 17 |         cmp_op=nl.maximum,
    |                ^^^^^^^^^^
   = help: pass a comparison that the message lists, e.g. nl.less
"""
