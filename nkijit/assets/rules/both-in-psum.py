import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    one = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.psum)
    nisa.tensor_copy(dst=one, src=tile)
    nisa.tensor_tensor(dst=tile, data1=one, data2=one, op=nl.add)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    one = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.psum)
    nisa.tensor_copy(dst=one, src=tile)
    nisa.tensor_tensor(dst=tile, data1=one, data2=tile, op=nl.add)
    nl.store(out, tile)
    return out


FINDING = r"""
error[both-in-psum]: nisa.tensor_tensor: 'data1' and 'data2' are both in psum
  --> both-in-psum.py:13:40
    |
 13 |     nisa.tensor_tensor(dst=tile, data1=one, data2=one, op=nl.add)
    |                                        ^^^        ^^^
   = data1: %one, psum 128x512 float32, allocated at both-in-psum.py:11:11
   = data2: %one, psum 128x512 float32, allocated at both-in-psum.py:11:11
   = help: copy one of the two to SBUF with nisa.tensor_copy first
"""
