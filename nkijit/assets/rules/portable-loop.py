import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    more = nisa.register_alloc(1)
    while more:
        nisa.activation(dst=tile, op=nl.tanh, data=tile)
        nisa.register_move(dst=more, src=0)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)

    def body(more):
        nisa.activation(dst=tile, op=nl.tanh, data=tile)
        return nisa.register_alloc(0)

    nl.while_loop(nisa.register_alloc(1), body)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[portable-loop]: kernel 'wrong': 'more' is a register
  --> portable-loop.py:12:11
    |
 12 |     while more:
    |           ^^^^
   = help: use nl.while_loop
"""
