import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(x, tile)
    return x


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


FINDING = r"""
error[err_cannot_update_immutable_parameter]: nl.store: parameter 'x' is written
  --> err_cannot_update_immutable_parameter.py:11:5
    |
 11 |     nl.store(x, tile)
    |     ^^^^^^^^
   = nl.store is implemented with nisa.dma_copy
   = help: annotate the parameter with nt.mutable_tensor, of neuronxcc.nki.typing, and return it; or write to a tensor allocated with buffer=nl.shared_hbm
"""
