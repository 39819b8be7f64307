import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i = nl.arange(128)[:, None]
    nl.store(out, nl.load(x[i, 0:512]))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i, j = nl.arange(128)[:, None], nl.arange(512)[None, :]
    nl.store(out, nl.load(x[i, j]))
    return out


FINDING = r"""
error[err_unsupported_mixing_basic_advanced_tensor_indexing]: tensor 'x': slices and index expressions in one index
  --> err_unsupported_mixing_basic_advanced_tensor_indexing.py:11:27
    |
 11 |     nl.store(out, nl.load(x[i, 0:512]))
    |                           ^
   = help: write index expressions for all dimensions: nl.arange(512)[None, :] for dimension 1
"""
