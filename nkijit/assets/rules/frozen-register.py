import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    for i in nl.dynamic_range(4):
        nisa.register_move(i, 0)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    for i in nl.dynamic_range(4):
        number = nisa.register_alloc(0)
        nisa.register_move(number, i)
    return out


FINDING = r"""
error[frozen-register]: register: the induction variable is written
  --> frozen-register.py:12:9
    |
 12 |         nisa.register_move(i, 0)
    |         ^^^^^^^^^^^^^^^^^^
   = help: move its value to a register of your own with nisa.register_move
"""
