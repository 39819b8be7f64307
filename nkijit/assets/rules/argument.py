import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op="exp", data=tile)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.exp, data=tile)
    nl.store(out, tile)
    return out


FINDING = r"""
error[argument]: nisa.activation: 'op': expected an operator of nki.language (nl.add, nl.gelu, nl.bypass, …), got 'exp' (str)
  --> argument.py:11:34
    |
 11 |     nisa.activation(dst=tile, op="exp", data=tile)
    |                                  ^^^^^
   = help: pass nl.exp, an object, not its name
"""
