import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x1024:float32")
@nki.jit
def wrong(x):
    sums = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    left, right = tile[:, 0:512], tile[:, 512:1024]
    reset = nisa.reduce_cmd.reset_reduce
    nisa.exponential(dst=left, src=left, reduce_cmd=reset)
    nisa.exponential(dst=right, src=right, reduce_cmd=reset, reduce_res=total)
    nl.store(sums, total)
    return sums


@nki.example(x="128x1024:float32")
@nki.jit
def right(x):
    sums = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    left, right = tile[:, 0:512], tile[:, 512:1024]
    reset, go_on = nisa.reduce_cmd.reset_reduce, nisa.reduce_cmd.reduce
    nisa.exponential(dst=left, src=left, reduce_cmd=reset)
    nisa.exponential(dst=right, src=right, reduce_cmd=go_on, reduce_res=total)
    nl.store(sums, total)
    return sums


FINDING = r"""
warning[accumulator-lost]: nisa.exponential: what it accumulates in the Vector Engine is never read out
  --> accumulator-lost.py:13:5
    |
 13 |     nisa.exponential(dst=left, src=left, reduce_cmd=reset)
    |     ^^^^^^^^^^^^^^^^
  ::: accumulator-lost.py:14:5
    |
 14 |     nisa.exponential(dst=right, src=right, reduce_cmd=reset, reduce_res=total)
    |     ---------------- reset by nisa.exponential
   = help: continue the reduction with reduce_cmd=nisa.reduce_cmd.reduce, pass reduce_res= to its last instruction, or do not reduce
"""
