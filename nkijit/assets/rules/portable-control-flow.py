import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x, kind="exp"):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    match kind:
        case "exp":
            nisa.activation(dst=tile, op=nl.exp, data=tile)
        case _:
            nisa.activation(dst=tile, op=nl.tanh, data=tile)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x, kind="exp"):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    if kind == "exp":
        nisa.activation(dst=tile, op=nl.exp, data=tile)
    else:
        nisa.activation(dst=tile, op=nl.tanh, data=tile)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[portable-control-flow]: kernel 'wrong': match is not part of the language
  --> portable-control-flow.py:11:5
    |
 11 |     match kind:
    |     ^^^^^
   = help: write it with if, for and while
"""
