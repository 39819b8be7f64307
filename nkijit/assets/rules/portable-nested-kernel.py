import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


def twice(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.copy, data=tile, scale=2.0)
    nl.store(out, tile)
    return out


doubled = nki.jit(twice)


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    return doubled(x)


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    return twice(x)


FINDING = r"""
warning[portable-nested-kernel]: kernel 'wrong': 'doubled' is decorated with nki.jit
  --> portable-nested-kernel.py:20:12
    |
 20 |     return doubled(x)
    |            ^^^^^^^
   = help: leave the decorator out, and call nki.jit(function) where the function is used as a kernel
"""
