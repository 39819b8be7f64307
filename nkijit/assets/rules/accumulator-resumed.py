import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    sums = nl.ndarray((64, 2), dtype=nl.float32, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((64, 2), dtype=nl.float32, buffer=nl.sbuf)
    low, high = tile[0:64], tile[64:128]
    reset, go_on = nisa.reduce_cmd.reset_reduce, nisa.reduce_cmd.reduce
    nisa.exponential(dst=high, src=high, reduce_cmd=reset, reduce_res=total[:, 0:1])
    nisa.exponential(dst=low[:, 0:256], src=low[:, 0:256], reduce_cmd=reset)
    nisa.exponential(dst=high, src=high, reduce_cmd=go_on, reduce_res=total[:, 1:2])
    nl.store(sums, total)
    return sums


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    sums = nl.ndarray((64, 2), dtype=nl.float32, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((64, 2), dtype=nl.float32, buffer=nl.sbuf)
    low, high = tile[0:64], tile[64:128]
    reset, go_on = nisa.reduce_cmd.reset_reduce, nisa.reduce_cmd.reduce
    nisa.exponential(dst=high, src=high, reduce_cmd=reset, reduce_res=total[:, 0:1])
    nisa.exponential(dst=low[:, 0:256], src=low[:, 0:256], reduce_cmd=reset)
    nisa.exponential(
        dst=low[:, 256:512], src=low[:, 256:512], reduce_cmd=go_on, reduce_res=total[:, 1:2]
    )
    nl.store(sums, total)
    return sums


FINDING = r"""
warning[accumulator-resumed]: nisa.exponential: reduce_cmd.reduce continues the reduction in lanes 64 to 127 of the Vector Engine, which has been read out, and not the one that began last
  --> accumulator-resumed.py:15:5
    |
 15 |     nisa.exponential(dst=high, src=high, reduce_cmd=go_on, reduce_res=total[:, 1:2])
    |     ^^^^^^^^^^^^^^^^
  ::: accumulator-resumed.py:13:5
    |
 13 |     nisa.exponential(dst=high, src=high, reduce_cmd=reset, reduce_res=total[:, 0:1])
    |     ---------------- last set by nisa.exponential
  ::: accumulator-resumed.py:14:5
    |
 14 |     nisa.exponential(dst=low[:, 0:256], src=low[:, 0:256], reduce_cmd=reset)
    |     ---------------- nisa.exponential begins a reduction in lanes 0 to 63
   = help: give all instructions of a reduction the same partitions, or begin with reduce_cmd=nisa.reduce_cmd.reset_reduce
"""
