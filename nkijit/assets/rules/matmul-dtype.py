import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:bfloat16")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    other = nl.load(x[:, 0:128], dtype=nl.float32)
    sum = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=sum, stationary=other, moving=tile)
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
error[matmul-dtype]: nisa.nc_matmul: float32 and bfloat16 cannot be multiplied
  --> matmul-dtype.py:13:40
    |
 13 |     nisa.nc_matmul(dst=sum, stationary=other, moving=tile)
    |                                        ^^^^^         ^^^^
   = stationary: %other, sbuf 128x128 float32, allocated at matmul-dtype.py:11:13
   = moving: %tile, sbuf 128x512 bfloat16, allocated at matmul-dtype.py:10:12
   = help: copy other into a tile of bfloat16 with nisa.tensor_copy, or tile into one of float32
"""
