import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="256x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.ds(128 * nl.program_id(0), 128)
    mine, theirs = nl.load(x[rows]), nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.sendrecv(src=mine, dst=theirs, send_to_rank=1, recv_from_rank=0, pipe_id=0)
    nl.store(out[rows], theirs)
    return out


@nki.example(x="256x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows, other = nl.ds(128 * nl.program_id(0), 128), 1 - nl.program_id(0)
    mine, theirs = nl.load(x[rows]), nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.sendrecv(src=mine, dst=theirs, send_to_rank=other, recv_from_rank=other, pipe_id=0)
    nl.store(out[rows], theirs)
    return out


wrong, right = wrong[2], right[2]


FINDING = r"""
error[sendrecv-pair]: nisa.sendrecv: core 0 receives from core 0, which sends to core 1
  --> sendrecv-pair.py:12:5
    |
 12 |     nisa.sendrecv(src=mine, dst=theirs, send_to_rank=1, recv_from_rank=0, pipe_id=0)
    |     ^^^^^^^^^^^^^
   = help: pass 1 - nl.program_id(0) as send_to_rank and as recv_from_rank, and give both tiles one shape and data type
"""
