import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.activation(
        dst=tile,
        op=nl.exp,
        data=tile,
        reduce_op=nl.add,
        reduce_res=total,
        reduce_cmd=nisa.reduce_cmd.load_reduce,
    )
    nl.store(out, total)
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
error[reduce-cmd]: nisa.activation: 'reduce_cmd' must be idle, reset, reduce or reset_reduce, it is load_reduce
  --> reduce-cmd.py:17:20
    |
 17 |         reduce_cmd=nisa.reduce_cmd.load_reduce,
    |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^
   = help: pass a command that the message lists, e.g. nisa.reduce_cmd.reset_reduce
"""
