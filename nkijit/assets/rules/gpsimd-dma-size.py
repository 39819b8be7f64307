import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="256x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows, other = nl.ds(128 * nl.program_id(0), 128), 1 - nl.program_id(0)
    mine, theirs = nl.load(x[rows]), nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.sendrecv(
        src=mine,
        dst=theirs,
        send_to_rank=other,
        recv_from_rank=other,
        pipe_id=0,
        dma_engine=nisa.dma_engine.gpsimd_dma,
    )
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
error[gpsimd-dma-size]: nisa.sendrecv: dma_engine.gpsimd_dma moves at most 1024 bytes per partition of float32, 'src' has 2048
  --> gpsimd-dma-size.py:13:13
    |
 13 |         src=mine,
    |             ^^^^
   = src: %sbuf, sbuf 128x512 float32, allocated at gpsimd-dma-size.py:11:20
   = help: pass dma_engine=nisa.dma_engine.dma, or send the tile in parts
"""
