import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="256x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.ds(128 * nl.program_id(0), 128)
    tile = nl.load(x[rows])
    nl.store(out[rows], tile)
    nisa.core_barrier(data=out, cores=(0))
    return out


@nki.example(x="256x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.ds(128 * nl.program_id(0), 128)
    tile = nl.load(x[rows])
    nl.store(out[rows], tile)
    nisa.core_barrier(data=out, cores=(0, 1))
    return out


wrong, right = wrong[2], right[2]


FINDING = r"""
warning[barrier-alone]: nisa.core_barrier: 'cores' is 0, which is one core
  --> barrier-alone.py:13:40
    |
 13 |     nisa.core_barrier(data=out, cores=(0))
    |                                        ^
   = help: pass cores=(0, 1), or leave the barrier out
"""
