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
    nisa.core_barrier(data=out, cores=(1, 2))
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
error[barrier-cores]: nisa.core_barrier: 'cores' must be (0, 1), it is (1, 2)
  --> barrier-cores.py:13:39
    |
 13 |     nisa.core_barrier(data=out, cores=(1, 2))
    |                                       ^^^^^^
   = help: pass cores=(0, 1)
"""
