import nkijit
import nkijit.classic as nki
import nkijit.classic.compiler as ncc
import nkijit.classic.language as nl


@nkijit.example(x="64x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    place = ncc.sbuf.alloc(lambda index, partitions, size: (32, 0))
    tile = nl.ndarray((64, 512), dtype=x.dtype, buffer=place)
    tile[...] = nl.load(x)
    nl.store(out, tile)
    return out


@nkijit.example(x="64x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    place = ncc.sbuf.alloc(lambda index, partitions, size: (64, 0))
    tile = nl.ndarray((64, 512), dtype=x.dtype, buffer=place)
    tile[...] = nl.load(x)
    nl.store(out, tile)
    return out


FINDING = r"""
error[direct-allocation]: nl.ndarray: a tile of 64 partitions with 2048 bytes each is placed at partition 32, byte 0
  --> direct-allocation.py:12:12
    |
 12 |     tile = nl.ndarray((64, 512), dtype=x.dtype, buffer=place)
    |            ^^^^^^^^^^
   = help: place an SBUF tile at partition 0; one of at most 64 partitions may also start at 64, one of at most 32 also at 32 and 96; place a PSUM tile in a bank from 0 to 7, at partition 0, byte 0
"""
