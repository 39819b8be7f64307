import nkijit as nki
import nkijit.collectives as ncc
import nkijit.language as nl


@nki.example(a="512x512:float32", b="512x512:float32", counts="3x4:uint32")
@nki.jit
def wrong(a, b, counts):
    left = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    right = nl.ndarray(b.shape, dtype=b.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    first = ncc.all_to_all_v_prepare([a], [left], ranks, metadata_tensor=counts)
    second = ncc.all_to_all_v_prepare([b], [right], ranks, metadata_tensor=counts)
    ncc.all_to_all_v_trigger(first)
    ncc.all_to_all_v_trigger(second)
    return left, right


@nki.example(a="512x512:float32", b="512x512:float32", counts="3x4:uint32")
@nki.jit
def right(a, b, counts):
    left = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    right = nl.ndarray(b.shape, dtype=b.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    first = ncc.all_to_all_v_prepare([a], [left], ranks, metadata_tensor=counts)
    ncc.all_to_all_v_trigger(first)
    second = ncc.all_to_all_v_prepare([b], [right], ranks, metadata_tensor=counts)
    ncc.all_to_all_v_trigger(second)
    return left, right


FINDING = r"""
error[collective-split]: ncc.all_to_all_v_prepare: comes before the trigger of another prepare
  --> collective-split.py:13:14
    |
 13 |     second = ncc.all_to_all_v_prepare([b], [right], ranks, metadata_tensor=counts)
    |              ^^^^^^^^^^^^^^^^^^^^^^^^
  ::: collective-split.py:12:13
    |
 12 |     first = ncc.all_to_all_v_prepare([a], [left], ranks, metadata_tensor=counts)
    |             ------------------------ it is prepared here
   = help: call the trigger of a prepare before the next prepare, in the same loop
"""
