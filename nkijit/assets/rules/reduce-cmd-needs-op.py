import nkijit
import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, nisa.activation(nl.exp, tile, reduce_cmd=nisa.reduce_cmd.reset_reduce))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, nisa.activation(nl.exp, tile))
    return out


FINDING = r"""
error[reduce-cmd-needs-op]: nisa.activation: 'reduce_cmd' is reset_reduce, but 'reduce_op' is not given
  --> reduce-cmd-needs-op.py:12:60
    |
 12 |     nl.store(out, nisa.activation(nl.exp, tile, reduce_cmd=nisa.reduce_cmd.reset_reduce))
    |                                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   = help: pass reduce_op=, e.g. nl.add
"""
