import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x1024:float32")
@nki.jit
def wrong(x):
    sums = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    left, right = tile[:, 0:512], tile[:, 512:1024]
    nisa.activation_reduce(dst=left, op=nl.exp, data=left, reduce_op=nl.add, reduce_res=total)
    nisa.activation(
        dst=right,
        op=nl.exp,
        data=right,
        reduce_op=nl.add,
        reduce_res=total,
        reduce_cmd=nisa.reduce_cmd.reduce,
    )
    nl.store(sums, total)
    return sums


@nki.example(x="128x1024:float32")
@nki.jit
def right(x):
    sums = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    left, right = tile[:, 0:512], tile[:, 512:1024]
    nisa.activation(
        dst=left,
        op=nl.exp,
        data=left,
        reduce_op=nl.add,
        reduce_cmd=nisa.reduce_cmd.reset_reduce,
    )
    nisa.activation(
        dst=right,
        op=nl.exp,
        data=right,
        reduce_op=nl.add,
        reduce_res=total,
        reduce_cmd=nisa.reduce_cmd.reduce,
    )
    nl.store(sums, total)
    return sums


FINDING = r"""
warning[accumulator-shared]: nisa.activation: goes on with what nisa.activation_reduce has accumulated
  --> accumulator-shared.py:13:5
    |
 13 |     nisa.activation(
    |     ^^^^^^^^^^^^^^^
  ::: accumulator-shared.py:12:5
    |
 12 |     nisa.activation_reduce(dst=left, op=nl.exp, data=left, reduce_op=nl.add, reduce_res=total)
    |     ---------------------- last set by nisa.activation_reduce
   = help: begin the reduction with the instruction that continues it, and reduce_cmd=nisa.reduce_cmd.reset_reduce
"""
