import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:int32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=0.5)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:int32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=1)
    nl.store(out, tile)
    return out


FINDING = r"""
error[memset-dtype]: nisa.memset: 'dst' is int32, but 'value' is the float 0.5
  --> memset-dtype.py:11:21
    |
 11 |     nisa.memset(dst=tile, value=0.5)
    |                     ^^^^
   = dst: %tile, sbuf 128x512 int32, allocated at memset-dtype.py:10:12
   = help: write an integer, or allocate 'dst' as nl.float32 to hold 0.5
"""
