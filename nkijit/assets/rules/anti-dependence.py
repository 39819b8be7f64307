import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(0, 512, 128):
        nl.store(out[:, nl.ds(i, 128)], nl.load(x[:, nl.ds(i, 128)]))
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(0, 512, 128):
        nl.store(out[:, i : i + 128], nl.load(x[:, i : i + 128]))
    return out


FINDING = r"""
warning[anti-dependence]: nl.load: writes 'sbuf', and waits for nisa.dma_copy, which reads it
  --> anti-dependence.py:10:41
    |
 10 |         nl.store(out[:, nl.ds(i, 128)], nl.load(x[:, nl.ds(i, 128)]))
    |                                         ^^^^^^^
  ::: anti-dependence.py:10:9
    |
 10 |         nl.store(out[:, nl.ds(i, 128)], nl.load(x[:, nl.ds(i, 128)]))
    |         -------- reads 'sbuf'
   = dst: %sbuf, sbuf 128x128 float32, allocated at anti-dependence.py:10:41
   = nl.load is implemented with nisa.dma_copy
   = help: take turns between two tiles (double buffering): allocate them inside an unrolled loop, or do two steps in each iteration of a loop on the device
"""
