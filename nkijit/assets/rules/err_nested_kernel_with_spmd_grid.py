import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nki.jit
def doubled(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.multiply(nl.load(x), 2.0))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    return doubled[2](x)


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    return doubled(x)


FINDING = r"""
error[err_nested_kernel_with_spmd_grid]: kernel 'doubled': it is called with a grid inside another kernel
  --> err_nested_kernel_with_spmd_grid.py:16:12
    |
 16 |     return doubled[2](x)
    |            ^^^^^^^
   = help: call it without a grid, and give the grid to the outer kernel
"""
