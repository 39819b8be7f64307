import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    for j in nl.affine_range(4):
        tile = nl.load(x[:, nl.ds(j * 128, 128)])
        total = nl.sum(tile, axis=[1], keepdims=True)
    nl.store(out, total)
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.zeros((128, 1), dtype=x.dtype)
    for j in nl.affine_range(4):
        tile = nl.load(x[:, nl.ds(j * 128, 128)])
        total += nl.sum(tile, axis=[1], keepdims=True)
    nl.store(out, total)
    return out


FINDING = r"""
warning[err_local_variable_used_out_of_scope]: nl.store: 'total' is allocated in the loop at line 10 and used after it
  --> err_local_variable_used_out_of_scope.py:13:5
    |
 13 |     nl.store(out, total)
    |     ^^^^^^^^
  ::: err_local_variable_used_out_of_scope.py:12:17
    |
 12 |         total = nl.sum(tile, axis=[1], keepdims=True)
    |                 ------ allocated here
   = nl.store is implemented with nisa.dma_copy
   = help: after the loop it holds the last iteration only: write total = nl.zeros((128, 1), nl.float32) before the loop, and total += ... or total[...] = ... in it
"""
