import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    half = nl.ndarray((64, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.reciprocal(dst=half, data=tile)
    nl.store(out[0:64], half)
    nl.store(out[64:128], half)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    half = nl.ndarray((64, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.reciprocal(dst=half, data=tile[0:64])
    nl.store(out[0:64], half)
    nl.store(out[64:128], half)
    return out


FINDING = r"""
error[partitions-match]: nisa.reciprocal: different numbers of partitions: 'data' has 128, 'dst' has 64
  --> partitions-match.py:12:36
    |
 12 |     nisa.reciprocal(dst=half, data=tile)
    |                         ^^^^       ^^^^
   = data: %tile, sbuf 128x512 float32, allocated at partitions-match.py:10:12
   = dst: %half, sbuf 64x512 float32, allocated at partitions-match.py:11:12
   = help: allocate 'dst' with 128 partitions, or read tile[0:64] only
"""
