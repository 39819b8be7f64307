import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x1024:float32")
@nki.jit
def wrong(x):
    sums = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    for i in range(0, 1024, 512):
        part, command = tile[:, i : i + 512], nisa.reduce_cmd.reduce
        nisa.exponential(dst=part, src=part, reduce_cmd=command, reduce_res=total)
    nl.store(sums, total)
    return sums


@nki.example(x="128x1024:float32")
@nki.jit
def right(x):
    sums = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    for i in range(0, 1024, 512):
        part, command = (
            tile[:, i : i + 512],
            nisa.reduce_cmd.reduce if i else nisa.reduce_cmd.reset_reduce,
        )
        nisa.exponential(dst=part, src=part, reduce_cmd=command, reduce_res=total)
    nl.store(sums, total)
    return sums


FINDING = r"""
error[accumulator-undefined]: nisa.exponential: reduce_cmd.reduce continues on the accumulators of the Vector Engine, which are undefined at the start of a kernel
  --> accumulator-undefined.py:13:9
    |
 13 |         nisa.exponential(dst=part, src=part, reduce_cmd=command, reduce_res=total)
    |         ^^^^^^^^^^^^^^^^
   = help: pass reduce_cmd=nisa.reduce_cmd.reset_reduce to the first instruction of the reduction
"""
