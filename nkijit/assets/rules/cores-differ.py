import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="256x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.ds(128 * nl.program_id(0), 128)
    if nl.program_id(0) == 0:
        scratch = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(scratch, nl.load(x[rows]))
        nisa.dma_copy(dst=out[rows], src=scratch)
    else:
        nl.store(out[rows], nl.load(x[rows]))
    return out


@nki.example(x="256x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.ds(128 * nl.program_id(0), 128)
    if nl.program_id(0) == 0:
        scratch = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.private_hbm)
        nl.store(scratch, nl.load(x[rows]))
        nisa.dma_copy(dst=out[rows], src=scratch)
    else:
        nl.store(out[rows], nl.load(x[rows]))
    return out


wrong, right = wrong[2], right[2]


FINDING = r"""
error[cores-differ]: nl.ndarray: core 0 of 'wrong' allocates 'scratch' (shared_hbm 128x512 float32) in shared HBM where core 1 allocates nothing more
  --> cores-differ.py:12:19
    |
 12 |         scratch = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    |                   ^^^^^^^^^^
   = help: allocate in shared HBM, and return, outside of branches on nl.program_id
"""
