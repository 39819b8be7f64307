import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:int32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=1.0)
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
warning[memset-float]: nisa.memset: 'dst' is int32, but 'value' is the float 1.0
  --> memset-float.py:11:21
    |
 11 |     nisa.memset(dst=tile, value=1.0)
    |                     ^^^^
   = dst: %tile, sbuf 128x512 int32, allocated at memset-float.py:10:12
   = help: write the value as an integer, 1 in the place of 1.0
"""
