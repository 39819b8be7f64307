import nkijit as nki
import nkijit.language as nl


@nki.example(x="256x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for block in range(2):
        rows = nl.ds(128 * block, 128)
        nl.store(out[rows], nl.exp(nl.load(x[rows])))
    return out


@nki.example(x="256x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for block in range(nl.program_id(0), 2, 2):
        rows = nl.ds(128 * block, 128)
        nl.store(out[rows], nl.exp(nl.load(x[rows])))
    return out


wrong, right = wrong[2], right[2]


FINDING = r"""
warning[same-work]: nl.store: both cores compute and write the same results
  --> same-work.py:11:9
    |
 11 |         nl.store(out[rows], nl.exp(nl.load(x[rows])))
    |         ^^^^^^^^
   = nl.store is implemented with nisa.dma_copy
   = help: split the work by nl.program_id(0), which is 0 on one core and 1 on the other, e.g. for i in range(nl.program_id(0), n, 2); or launch the kernel on one core
"""
