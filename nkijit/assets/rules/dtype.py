import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:int32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    sum = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=sum, stationary=tile[:, 0:128], moving=tile)
    nl.store(out, nl.copy(sum))
    return out


@nki.example(x="128x512:int32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x, dtype=nl.bfloat16)
    sum = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=sum, stationary=tile[:, 0:128], moving=tile)
    nl.store(out, nl.copy(sum))
    return out


FINDING = r"""
error[dtype]: nisa.nc_matmul: 'stationary' must be float8_e4m3, float8_e5m2, float8_e4m3fn, bfloat16, float16, float32 or tfloat32, it is int32
  --> dtype.py:12:40
    |
 12 |     nisa.nc_matmul(dst=sum, stationary=tile[:, 0:128], moving=tile)
    |                                        ^^^^^^^^^^^^^^
   = stationary: %tile, sbuf 128x128 int32, a view of %tile (sbuf 128x512 int32), allocated at dtype.py:10:12
   = help: convert it first, with nisa.tensor_copy into a tile of a type that the message lists, or allocate it with that dtype=
"""
