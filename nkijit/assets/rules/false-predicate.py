import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x128:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    # keep column f of row p if f <= p
    nisa.affine_select(
        dst=tile,
        pattern=[[1, 128]],
        channel_multiplier=1,
        on_true_tile=tile,
        on_false_value=0.0,
        cmp_op=nl.less,
    )
    nl.store(out, tile)
    return out


@nki.example(x="128x128:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    # keep column f of row p if p - f >= 0
    nisa.affine_select(
        dst=tile,
        pattern=[[-1, 128]],
        channel_multiplier=1,
        on_true_tile=tile,
        on_false_value=0.0,
        cmp_op=nl.greater_equal,
    )
    nl.store(out, tile)
    return out


FINDING = r"""
warning[false-predicate]: nisa.affine_select: the predicate is false for all elements: its values are 0 to 254, compared with 0 by nl.less, so 'dst' gets 'on_false_value' only
  --> false-predicate.py:13:13
    |
 13 |         dst=tile,
    |             ^^^^
   = dst: %tile, sbuf 128x128 float32, allocated at false-predicate.py:10:12
   = help: correct the comparison, 'offset', or the signs in 'pattern' and 'channel_multiplier'; nisa.memset writes a number to all elements
"""
