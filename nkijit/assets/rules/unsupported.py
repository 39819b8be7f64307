import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x, mask=None, tag=1))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x, mask=None))
    return out


FINDING = r"""
error[unsupported]: nl.load: arguments that are not documented: 'tag'
  --> unsupported.py:10:19
    |
 10 |     nl.store(out, nl.load(x, mask=None, tag=1))
    |                   ^^^^^^^
   = help: leave it out: nl.load takes src, mask, dtype
"""
