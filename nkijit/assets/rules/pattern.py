import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:int32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.iota(dst=tile, pattern=[[1, 256]], offset=0)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:int32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.iota(dst=tile, pattern=[[1, 512]], offset=0)
    nl.store(out, tile)
    return out


FINDING = r"""
error[pattern]: nisa.iota: 'pattern' has 256 elements, 'dst' has 512 per partition
  --> pattern.py:11:19
    |
 11 |     nisa.iota(dst=tile, pattern=[[1, 256]], offset=0)
    |                   ^^^^
   = dst: %tile, sbuf 128x512 int32, allocated at pattern.py:10:12
   = help: make the product of the counts equal to the elements per partition of dst
"""
