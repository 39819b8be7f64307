import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.exp, data=tile)
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
error[output-unwritten]: nl.ndarray: 'out' is returned, but nothing has written it
  --> output-unwritten.py:9:11
   |
 9 |     out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
   |           ^^^^^^^^^^
   = result 0: %out, shared_hbm 128x512 float32, allocated at output-unwritten.py:9:11
   = help: write it before the kernel ends, e.g. nl.store(out, tile), also when a loop or a branch is not entered; or do not return it
"""
