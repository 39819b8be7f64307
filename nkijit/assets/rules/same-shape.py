import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="256x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows, other = nl.ds(128 * nl.program_id(0), 128), 1 - nl.program_id(0)
    mine, theirs = nl.load(x[rows]), nl.ndarray((128, 256), dtype=x.dtype, buffer=nl.sbuf)
    nisa.sendrecv(src=mine, dst=theirs, send_to_rank=other, recv_from_rank=other, pipe_id=0)
    nl.store(out[rows, 0:256], theirs)
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
error[same-shape]: nisa.sendrecv: 'src' and 'dst' must have the same shape, they have (128, 512) and (128, 256)
  --> same-shape.py:12:23
    |
 12 |     nisa.sendrecv(src=mine, dst=theirs, send_to_rank=other, recv_from_rank=other, pipe_id=0)
    |                       ^^^^      ^^^^^^
   = src: %sbuf, sbuf 128x512 float32, allocated at same-shape.py:11:20
   = dst: %theirs, sbuf 128x256 float32, allocated at same-shape.py:11:38
   = help: slice, or reshape, one of them to the shape of the other
"""
