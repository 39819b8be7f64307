import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows, columns, _ = x.shape
    nl.store(out, nl.load(x[0:rows, 0:columns]))
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows, columns = x.shape
    nl.store(out, nl.load(x[0:rows, 0:columns]))
    return out


FINDING = r"""
error[python-error]: ValueError: not enough values to unpack (expected 3, got 2)
  --> python-error.py:9:5
   |
 9 |     rows, columns, _ = x.shape
   |     ^^^^^^^^^^^^^^^^
   = help: the kernel's Python runs while it is traced, with the arguments of this call: correct the line, or pass arguments for which it raises nothing
"""
