import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.exponential(
        dst=tile,
        src=tile,
        reduce_res=total,
        reduce_cmd=nisa.reduce_cmd.reset_reduce,
        reduce_init=1.0,
    )
    nl.store(out, total)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.exponential(
        dst=tile,
        src=tile,
        reduce_res=total,
        reduce_cmd=nisa.reduce_cmd.load_reduce,
        reduce_init=1.0,
    )
    nl.store(out, total)
    return out


FINDING = r"""
error[reduce-init]: nisa.exponential: 'reduce_init' is given, but 'reduce_cmd' is reset_reduce
  --> reduce-init.py:16:21
    |
 16 |         reduce_init=1.0,
    |                     ^^^
   = help: pass reduce_cmd=nisa.reduce_cmd.load_reduce, or leave reduce_init out
"""
