import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(4):
        nl.store(out, nl.load(x))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


FINDING = r"""
warning[err_unexpected_output_dependencies]: nl.store: two iterations write the same elements of 'out'
  --> err_unexpected_output_dependencies.py:11:9
    |
 11 |         nl.store(out, nl.load(x))
    |         ^^^^^^^^
   = nl.store is implemented with nisa.dma_copy
   = help: index what is written with the program id or the loop variable, or use nl.sequential_range
"""
