import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="256x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    middle = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    first, other = 128 * nl.program_id(0), 128 - 128 * nl.program_id(0)
    nl.store(middle[first : first + 128], nl.load(x[first : first + 128]))
    nl.store(out[first : first + 128], nl.load(middle[other : other + 128]))
    return out


@nki.example(x="256x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    middle = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    first, other = 128 * nl.program_id(0), 128 - 128 * nl.program_id(0)
    nl.store(middle[first : first + 128], nl.load(x[first : first + 128]))
    nisa.core_barrier(data=middle, cores=(0, 1))
    nl.store(out[first : first + 128], nl.load(middle[other : other + 128]))
    return out


wrong, right = wrong[2], right[2]


FINDING = r"""
error[core-race]: nl.load: core 0 reads 'middle', which core 1 writes without a barrier between
  --> core-race.py:13:40
    |
 13 |     nl.store(out[first : first + 128], nl.load(middle[other : other + 128]))
    |                                        ^^^^^^^
  ::: core-race.py:12:5
    |
 12 |     nl.store(middle[first : first + 128], nl.load(x[first : first + 128]))
    |     -------- core 1 writes it here
   = the same finding 2 times at this place, in an unrolled loop or call
   = nl.load is implemented with nisa.dma_copy
   = help: call nisa.core_barrier on the tensor between the write and the read
"""
