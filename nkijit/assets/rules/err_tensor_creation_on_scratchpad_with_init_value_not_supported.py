import nkijit
import nkijit.classic as nki
import nkijit.classic.compiler as ncc
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    place = ncc.sbuf.mod_alloc(base_addr=0)
    tile = nl.zeros((128, 512), dtype=x.dtype, buffer=place)
    tile[0:64] = nl.load(x[0:64])
    nl.store(out, tile)
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    place = ncc.sbuf.mod_alloc(base_addr=0)
    tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=place)
    tile[...] = 0.0
    tile[0:64] = nl.load(x[0:64])
    nl.store(out, tile)
    return out


FINDING = r"""
error[err_tensor_creation_on_scratchpad_with_init_value_not_supported]: nl.zeros: a tensor at a fixed address with an initial value
  --> err_tensor_creation_on_scratchpad_with_init_value_not_supported.py:12:12
    |
 12 |     tile = nl.zeros((128, 512), dtype=x.dtype, buffer=place)
    |            ^^^^^^^^
   = help: allocate it with nl.ndarray and assign to it
"""
