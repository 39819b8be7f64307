import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl
import nkijit.classic.typing as nt


@nkijit.example(x="128x512:float32", cache="128x512:float32")
@nki.jit
def wrong(x, cache: nt.mutable_tensor):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(cache, tile)
    nl.store(out, nl.exp(tile))
    return out


@nkijit.example(x="128x512:float32", cache="128x512:float32")
@nki.jit
def right(x, cache: nt.mutable_tensor):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(cache, tile)
    nl.store(out, nl.exp(tile))
    return out, cache


FINDING = r"""
error[err_mutable_parameter_not_returned]: nl.store: parameter 'cache' is written, and not returned
  --> err_mutable_parameter_not_returned.py:12:5
    |
 12 |     nl.store(cache, tile)
    |     ^^^^^^^^
   = nl.store is implemented with nisa.dma_copy
   = help: add the parameter to the kernel's return statement
"""
