import numpy as np

import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.shared_constant(np.zeros((128, 512), np.float32))
    nl.store(out, nl.load(x))
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


FINDING = r"""
error[constant-written]: nl.store: 'dst' is constant data
  --> constant-written.py:11:14
    |
 11 |     nl.store(out, nl.load(x))
    |              ^^^
   = dst: %out, shared_hbm 128x512 float32, a constant, allocated at constant-written.py:10:11
   = nl.store is implemented with nisa.dma_copy
   = help: write to a tensor of nl.ndarray, e.g. after copying the constant to it
"""
