import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x2x4x64:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    largest = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.sbuf)
    nisa.max8(dst=largest, src=nl.load(x))
    nl.store(out, largest)
    return out


@nki.example(x="128x2x4x64:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    largest = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.sbuf)
    nisa.max8(dst=largest, src=nl.load(x).flatten_dims(1, 3))
    nl.store(out, largest)
    return out


FINDING = r"""
error[max-dims]: nisa.max8: 'src' has 4 dimensions, at most 3 are possible
  --> max-dims.py:11:32
    |
 11 |     nisa.max8(dst=largest, src=nl.load(x))
    |                                ^^^^^^^^^^
   = src: %sbuf, sbuf 128x2x4x64 float32, allocated at max-dims.py:11:32
   = help: merge free dimensions first, with t.reshape((p, n)) or t.flatten_dims(first, last)
"""
