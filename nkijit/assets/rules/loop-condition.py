import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    number = nisa.register_alloc(1)
    while number:
        number = nisa.register_alloc(0)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    number = nisa.register_alloc(1)
    while number:
        nisa.register_move(number, 0)
    return out


FINDING = r"""
error[loop-condition]: while: the test of the loop has become another register
  --> loop-condition.py:12:11
    |
 12 |     while number:
    |           ^^^^^^
   = help: write that register with nisa.register_load or nisa.register_move, do not rebind its name
"""
