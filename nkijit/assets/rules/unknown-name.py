import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, nl.expp(tile))
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, nl.exp(tile))
    return out


FINDING = r"""
error[unknown-name]: nl.expp: nki.language has no 'expp'; did you mean 'exp'?
  --> unknown-name.py:10:19
    |
 10 |     nl.store(out, nl.expp(tile))
    |                   ^^^^^^^
   = help: correct the spelling, import the name, or assign the variable before this line
"""
