import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="64x32x2:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.transpose(nl.load(x)))
    return out


@nkijit.example(x="64x32x2:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


FINDING = r"""
error[err_exceed_max_supported_dimension]: nl.transpose: 'x' of shape (64, 32, 2) has 3 dimensions; legal: 2
  --> err_exceed_max_supported_dimension.py:10:32
    |
 10 |     nl.store(out, nl.transpose(nl.load(x)))
    |                                ^^^^^^^^^^
   = help: merge free dimensions with reshape, or index some of them with integers
"""
