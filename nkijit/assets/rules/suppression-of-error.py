import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.add, data=tile)  # nkijit: ignore[activation-function]
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.relu, data=tile)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[suppression-of-error]: ignore[activation-function]: an error of this rule is reported here
  --> suppression-of-error.py:11:56
    |
 11 |     nisa.activation(dst=tile, op=nl.add, data=tile)  # nkijit: ignore[activation-function]
    |                                                        ^^^^^^
  ::: suppression-of-error.py:11:5
    |
 11 |     nisa.activation(dst=tile, op=nl.add, data=tile)  # nkijit: ignore[activation-function]
    |     --------------- the error
   = help: fix the error and remove the comment
"""
