import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=0)
    nl.store(out, total)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=1)
    nl.store(out, total)
    return out


FINDING = r"""
error[reduce-axes]: nisa.tensor_reduce: axis is [0]; legal for this tile are [1]
  --> reduce-axes.py:12:51
    |
 12 |     nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=0)
    |                                                   ^^^^
   = data: %tile, sbuf 128x512 float32, allocated at reduce-axes.py:10:12
   = help: dim 0 is the partition dimension: add up partitions with nisa.nc_matmul, tile as 'moving' and a (P, 1) tile of ones as 'stationary'; for other operators transpose first with nisa.nc_transpose, and reduce axis 1
"""
