import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="256x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows, other = nl.ds(128 * nl.program_id(0), 128), 1 - nl.program_id(0)
    mine, theirs = nl.load(x[rows]), nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.sendrecv(src=mine, dst=theirs, send_to_rank=other, recv_from_rank=other, pipe_id=0)
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


right = right[2]


FINDING = r"""
error[two-cores]: nisa.sendrecv: the kernel is launched on one core
  --> two-cores.py:12:5
    |
 12 |     nisa.sendrecv(src=mine, dst=theirs, send_to_rank=other, recv_from_rank=other, pipe_id=0)
    |     ^^^^^^^^^^^^^
   = help: launch the kernel with kernel[2], or leave the instruction out when nl.num_programs() is 1
"""
