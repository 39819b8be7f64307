import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x, shape=[128, 256]):
    out = nl.ndarray(shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x[:, 0 : shape[1]]))
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x, shape=(128, 256)):
    out = nl.ndarray(shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x[:, 0 : shape[1]]))
    return out


FINDING = r"""
warning[portable-list-argument]: kernel 'wrong': a parameter's default is a list
  --> portable-list-argument.py:7:20
   |
 7 | def wrong(x, shape=[128, 256]):
   |                    ^
   = help: pass a tuple
"""
