import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i = nl.arange(128)[:, None]
    i[0] = 1
    nl.store(out, nl.load(x))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


FINDING = r"""
error[err_cannot_assign_to_index]: index expression: an index expression does not support item assignment
  --> err_cannot_assign_to_index.py:11:5
    |
 11 |     i[0] = 1
    |     ^
   = help: make a tile of it with nisa.iota first
"""
