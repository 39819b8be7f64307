import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:bfloat16")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    sum = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=sum, stationary=tile[0:64, 0:128], moving=tile)
    nl.store(out, nl.copy(sum))
    return out


@nki.example(x="128x512:bfloat16")
@nki.jit
def right(x):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    sum = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=sum, stationary=tile[:, 0:128], moving=tile)
    nl.store(out, nl.copy(sum))
    return out


FINDING = r"""
error[matmul-shape]: nisa.nc_matmul: the contraction runs over 64 partitions of 'stationary' and 128 of 'moving'
  --> matmul-shape.py:12:40
    |
 12 |     nisa.nc_matmul(dst=sum, stationary=tile[0:64, 0:128], moving=tile)
    |                                        ^^^^^^^^^^^^^^^^^         ^^^^
   = stationary: %tile, sbuf 64x128 bfloat16, a view of %tile (sbuf 128x512 bfloat16), allocated at matmul-shape.py:10:12
   = moving: %tile, sbuf 128x512 bfloat16, allocated at matmul-shape.py:10:12
   = help: 'stationary' has the contracted dimension in its columns: transpose it first, nisa.nc_transpose of tile to (128, 64), or load it with nisa.dma_transpose
"""
