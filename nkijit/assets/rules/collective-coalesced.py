import nkijit as nki
import nkijit.collectives as ncc
import nkijit.language as nl


@nki.example(a="128x512:float32", b="128x512:float32")
@nki.jit
def wrong(a, b):
    left = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    right = nl.ndarray(b.shape, dtype=b.dtype, buffer=nl.shared_hbm)
    swap = [(0, 1), (1, 0)]
    ncc.collective_permute([a, b], [left, right], source_target_pairs=swap)
    return left, right


@nki.example(a="128x512:float32", b="128x512:float32")
@nki.jit
def right(a, b):
    left = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    right = nl.ndarray(b.shape, dtype=b.dtype, buffer=nl.shared_hbm)
    swap = [(0, 1), (1, 0)]
    ncc.collective_permute([a], [left], source_target_pairs=swap)
    ncc.collective_permute([b], [right], source_target_pairs=swap)
    return left, right


FINDING = r"""
error[collective-coalesced]: ncc.collective_permute: takes one tensor, there are 2
  --> collective-coalesced.py:12:5
    |
 12 |     ncc.collective_permute([a, b], [left, right], source_target_pairs=swap)
    |     ^^^^^^^^^^^^^^^^^^^^^^
   = help: call the collective once for each tensor
"""
