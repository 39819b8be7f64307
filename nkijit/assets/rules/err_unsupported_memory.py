import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, nl.load(tile))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


FINDING = r"""
error[err_unsupported_memory]: nl.load: 'tile' must be in hbm, it is in sbuf
  --> err_unsupported_memory.py:11:27
    |
 11 |     nl.store(out, nl.load(tile))
    |                           ^^^^
   = help: 'tile' is on chip already: pass it to functions as it is, or copy it with nisa.tensor_copy
"""
