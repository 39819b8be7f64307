import nkijit as nki
import nkijit.language as nl


@nki.example(x="256x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.ds(128 * nl.program_id(0), 128)
    nl.store(out, nl.load(x[rows]))
    return out


@nki.example(x="256x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((256, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.ds(128 * nl.program_id(0), 128)
    nl.store(out[rows], nl.load(x[rows]))
    return out


wrong, right = wrong[2], right[2]


FINDING = r"""
warning[core-double-write]: nl.store: both cores write the same bytes of 'out' without a barrier between
  --> core-double-write.py:10:5
    |
 10 |     nl.store(out, nl.load(x[rows]))
    |     ^^^^^^^^
  ::: core-double-write.py:10:5
    |
 10 |     nl.store(out, nl.load(x[rows]))
    |     -------- core 1 writes them here
   = nl.store is implemented with nisa.dma_copy
   = help: let each core write its own part, chosen by nl.program_id, or let one of them write
"""
