import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(a="128x512:float32", b="128x512:float32", index="128x8:uint32")
@nki.jit
def wrong(a, b, index):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left, right, columns = nl.load(a), nl.load(b), nl.load(index)
    product = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=product, stationary=left.indirect(columns, num_elem=128), moving=right)
    nl.store(out, nl.copy(product))
    return out


@nki.example(a="128x512:bfloat16", b="128x512:bfloat16", index="128x8:uint32")
@nki.jit
def right(a, b, index):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left, right, columns = nl.load(a), nl.load(b), nl.load(index)
    product = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=product, stationary=left.indirect(columns, num_elem=128), moving=right)
    nl.store(out, nl.copy(product))
    return out


FINDING = r"""
error[matmul-indirect]: nisa.nc_matmul: 'stationary' is float32 and addressed with .indirect()
  --> matmul-indirect.py:12:44
    |
 12 |     nisa.nc_matmul(dst=product, stationary=left.indirect(columns, num_elem=128), moving=right)
    |                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   = stationary: %sbuf, sbuf 128x128 float32, a view of %sbuf (sbuf 128x512 float32), allocated at matmul-indirect.py:10:28
   = help: pass tiles of bfloat16, float16 or float8, leave tile_position out, and address data and scales with the same index
"""
