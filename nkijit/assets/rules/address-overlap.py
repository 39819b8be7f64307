import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    one = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 0))
    two = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 1024))
    nisa.dma_copy(dst=one, src=x)
    nisa.dma_copy(dst=two, src=x)
    nisa.tensor_tensor(dst=one, data1=one, data2=two, op=nl.add)
    nl.store(out, one)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    one = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 0))
    two = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 2048))
    nisa.dma_copy(dst=one, src=x)
    nisa.dma_copy(dst=two, src=x)
    nisa.tensor_tensor(dst=one, data1=one, data2=two, op=nl.add)
    nl.store(out, one)
    return out


FINDING = r"""
error[address-overlap]: nisa.dma_copy: uses 'two', which shares bytes with 'one' while that is in use
  --> address-overlap.py:13:5
    |
 13 |     nisa.dma_copy(dst=two, src=x)
    |     ^^^^^^^^^^^^^
  ::: address-overlap.py:10:11
    |
 10 |     one = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 0))
    |           ---------- 'one' is sbuf 128x512 float32 at (0, 0)
  ::: address-overlap.py:11:11
    |
 11 |     two = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 1024))
    |           ---------- 'two' is sbuf 128x512 float32 at (0, 1024)
  ::: address-overlap.py:15:5
    |
 15 |     nl.store(out, one)
    |     -------- 'one' is in use until here
   = help: move one of them, or let the last use of one come before the first use of the other
"""
