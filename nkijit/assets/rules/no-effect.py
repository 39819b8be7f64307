import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.exp, data=tile, reduce_op=nl.add)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.activation(
        dst=tile,
        op=nl.exp,
        data=tile,
        reduce_op=nl.add,
        reduce_res=total,
        reduce_cmd=nisa.reduce_cmd.reset_reduce,
    )
    nl.store(out, total)
    return out


FINDING = r"""
warning[no-effect]: nisa.activation: 'reduce_op' has no effect, as 'reduce_cmd' is idle
  --> no-effect.py:11:63
    |
 11 |     nisa.activation(dst=tile, op=nl.exp, data=tile, reduce_op=nl.add)
    |                                                               ^^^^^^
   = help: pass reduce_cmd=nisa.reduce_cmd.reset_reduce, or leave reduce_op out
"""
