import nkijit as nki
import nkijit.collectives as ncc
import nkijit.language as nl


@nki.example(a="128x512:float32", b="128x512:float32")
@nki.jit
def wrong(a, b):
    left = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    right = nl.ndarray(b.shape, dtype=b.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_reduce(srcs=[a, b], dsts=[left], replica_group=ranks, op=nl.add)
    return left, right


@nki.example(a="128x512:float32", b="128x512:float32")
@nki.jit
def right(a, b):
    left = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    right = nl.ndarray(b.shape, dtype=b.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_reduce(srcs=[a, b], dsts=[left, right], replica_group=ranks, op=nl.add)
    return left, right


FINDING = r"""
error[collective-lists]: ncc.all_reduce: the lists of tensors differ in length: 'srcs' has 2, 'dsts' has 1
  --> collective-lists.py:12:25
    |
 12 |     ncc.all_reduce(srcs=[a, b], dsts=[left], replica_group=ranks, op=nl.add)
    |                         ^^^^^^
   = help: pass lists of equal length
"""
