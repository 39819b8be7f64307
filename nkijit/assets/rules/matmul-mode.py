import numpy as np

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(a="128x128:float32")
@nki.jit
def wrong(a):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    tile, identity = nl.load(a), nl.load(nl.shared_constant(np.identity(128, np.float32)))
    turned = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.psum)
    nisa.nc_matmul(turned, tile, identity, is_transpose=True, accumulate=True)
    nl.store(out, nl.copy(turned))
    return out


@nki.example(a="128x128:float32")
@nki.jit
def right(a):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    tile, identity = nl.load(a), nl.load(nl.shared_constant(np.identity(128, np.float32)))
    turned = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.psum)
    nisa.nc_matmul(turned, tile, identity, is_transpose=True)
    nl.store(out, nl.copy(turned))
    return out


FINDING = r"""
error[matmul-mode]: nisa.nc_matmul: 'is_transpose' is True, which passes bits through and adds nothing
  --> matmul-mode.py:14:57
    |
 14 |     nisa.nc_matmul(turned, tile, identity, is_transpose=True, accumulate=True)
    |                                                         ^^^^
   = help: for a matmul leave is_transpose out; for a transpose leave accumulate and perf_mode out
"""
