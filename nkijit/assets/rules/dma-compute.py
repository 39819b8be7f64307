import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32", y="128x512:float32")
@nki.jit
def wrong(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_compute(dst=out, srcs=[x, y], reduce_op=nl.add, scales=[0.5, 0.5])
    return out


@nki.example(x="128x512:float32", y="128x512:float32")
@nki.jit
def right(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_compute(dst=out, srcs=[x, y], reduce_op=nl.add)
    return out


FINDING = r"""
error[dma-compute]: nisa.dma_compute: 'scales' must be 1.0 for each source, it is [0.5, 0.5]
  --> dma-compute.py:10:69
    |
 10 |     nisa.dma_compute(dst=out, srcs=[x, y], reduce_op=nl.add, scales=[0.5, 0.5])
    |                                                                     ^^^^^^^^^^
   = help: pass reduce_op=nl.add without scales; with a vector of indices pass srcs=[dst, src] (nkijit explain nisa.dma_compute has both forms)
"""
