import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(0, 384, 128):
        nl.store(out[:, i : i + 128], nl.load(x[:, i : i + 128]))
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(0, 512, 128):
        nl.store(out[:, i : i + 128], nl.load(x[:, i : i + 128]))
    return out


FINDING = r"""
warning[output-partly-unwritten]: nl.ndarray: 'out' is returned, but nothing has written its elements [0:128, 384:512]
  --> output-partly-unwritten.py:8:11
   |
 8 |     out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
   |           ^^^^^^^^^^
   = result 0: %out, shared_hbm 128x512 float32, allocated at output-partly-unwritten.py:8:11
   = help: let the loops reach the rest of it, or allocate and return a smaller tensor
"""
