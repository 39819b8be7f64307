import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="256x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.ds(128 * nl.program_id(0), 128)
    nl.store(out[rows], nl.load(x[rows]))
    if nl.program_id(0) == 0:
        nisa.core_barrier(data=out, cores=(0, 1))
    return out


@nki.example(x="256x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.ds(128 * nl.program_id(0), 128)
    nl.store(out[rows], nl.load(x[rows]))
    nisa.core_barrier(data=out, cores=(0, 1))
    return out


wrong, right = wrong[2], right[2]


FINDING = r"""
error[cores-wait]: nisa.core_barrier: core 0 waits here for core 1, which does not come
  --> cores-wait.py:13:9
    |
 13 |         nisa.core_barrier(data=out, cores=(0, 1))
    |         ^^^^^^^^^^^^^^^^^
   = help: call barriers, exchanges and collectives outside of branches on nl.program_id, with the same arguments on both cores
"""
