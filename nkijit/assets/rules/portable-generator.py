import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows = sum(size for size in (64, 64))
    nl.store(out[0:rows], nl.load(x[0:rows]))
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows = sum([size for size in (64, 64)])
    nl.store(out[0:rows], nl.load(x[0:rows]))
    return out


FINDING = r"""
warning[portable-generator]: kernel 'wrong': a generator expression is not a value of the language
  --> portable-generator.py:9:15
   |
 9 |     rows = sum(size for size in (64, 64))
   |               ^
   = help: build a list and loop over that
"""
