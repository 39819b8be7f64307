import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    assert tile > 0
    nl.store(out, tile)
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    assert tile.shape[0] > 0
    nl.store(out, tile)
    return out


FINDING = r"""
error[err_ambiguous_tensor_truth_value]: tile > 0: the values of a tensor are not known while a kernel is traced
  --> err_ambiguous_tensor_truth_value.py:11:12
    |
 11 |     assert tile > 0
    |            ^^^^
   = help: compare with `is None`, or use & | ~ for tensors
"""
