import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar_cumulative(
        dst=tile,
        src=tile,
        op0=nl.multiply,
        op1=nl.add,
        imm0=1.0,
        reduce_cmd=nisa.reduce_cmd.load_reduce,
    )
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar_cumulative(
        dst=tile,
        src=tile,
        op0=nl.multiply,
        op1=nl.add,
        imm0=1.0,
        imm1=0.5,
        reduce_cmd=nisa.reduce_cmd.load_reduce,
    )
    nl.store(out, tile)
    return out


FINDING = r"""
error[load-needs-init]: nisa.tensor_scalar_cumulative: 'reduce_cmd' is load_reduce, but 'imm1' is not given
  --> load-needs-init.py:17:20
    |
 17 |         reduce_cmd=nisa.reduce_cmd.load_reduce,
    |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^
   = help: pass the initial value (reduce_init= or imm1=), or reduce_cmd=nisa.reduce_cmd.reset_reduce
"""
