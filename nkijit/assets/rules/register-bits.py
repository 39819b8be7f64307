import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32", n="1x1:float32")
@nki.jit
def wrong(x, n):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    count = nisa.register_alloc()
    nisa.register_load(count, n)
    nl.fori_loop(0, count, lambda i: nisa.activation(dst=tile, op=nl.tanh, data=tile))
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32", n="1x1:float32")
@nki.jit
def right(x, n):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    count = nisa.register_alloc()
    nisa.register_load(count, nl.load(n, dtype=nl.int32))
    nl.fori_loop(0, count, lambda i: nisa.activation(dst=tile, op=nl.tanh, data=tile))
    nl.store(out, tile)
    return out


FINDING = r"""
warning[register-bits]: nisa.register_load: 'src' is float32: 'count' gets its bits, and is used as an integer
  --> register-bits.py:12:31
    |
 12 |     nisa.register_load(count, n)
    |                               ^
  ::: register-bits.py:13:5
    |
 13 |     nl.fori_loop(0, count, lambda i: nisa.activation(dst=tile, op=nl.tanh, data=tile))
    |     ------------ used as an integer here
   = src: %n, private_hbm 1x1 float32, an argument of the kernel
   = help: convert the value first: copy it with nisa.tensor_copy into an int32 tile, and load that
"""
