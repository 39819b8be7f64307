import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


class Options(nl.NKIObject):
    op: object
    bias: object


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile, options = nl.load(x), Options(op=nl.exp)
    nisa.activation(dst=tile, op=options.op, data=tile, bias=options.bias)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile, options = nl.load(x), Options(op=nl.exp, bias=None)
    nisa.activation(dst=tile, op=options.op, data=tile, bias=options.bias)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[portable-field]: class 'Options': field 'bias' has no default and is left out, so it is None
  --> portable-field.py:15:33
    |
 15 |     tile, options = nl.load(x), Options(op=nl.exp)
    |                                 ^^^^^^^
   = help: give the field, or a default in the class
"""
