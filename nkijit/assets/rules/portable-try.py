import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    if x.shape[0] > 128:
        raise ValueError("x has more than 128 rows")
    nl.store(out, nl.load(x))
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    assert x.shape[0] <= 128, "x has more than 128 rows"
    nl.store(out, nl.load(x))
    return out


FINDING = r"""
warning[portable-try]: kernel 'wrong': raise is not part of the language
  --> portable-try.py:10:9
    |
 10 |         raise ValueError("x has more than 128 rows")
    |         ^^^^^
   = help: test for the condition with if, or state it with assert
"""
