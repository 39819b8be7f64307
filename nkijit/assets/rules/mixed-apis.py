import nkijit as nki
import nkijit.classic.language as classic
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, classic.exp(nl.load(x)))
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.exp(nl.load(x)))
    return out


FINDING = r"""
error[mixed-apis]: nl.exp: it is of the classic API, but the kernel's nki.jit is of the current API
  --> mixed-apis.py:10:19
    |
 10 |     nl.store(out, classic.exp(nl.load(x)))
    |                   ^^^^^^^^^^^
   = help: for a kernel of the classic API, write import neuronxcc.nki as nki; for one of the current API, import nki.language as nl
"""
