import nkijit as nki
import nkijit.collectives as ncc
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2], [2, 3, 4]])
    ncc.all_reduce(srcs=[x], dsts=[out], replica_group=ranks, op=nl.add)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2], [3, 4, 5]])
    ncc.all_reduce(srcs=[x], dsts=[out], replica_group=ranks, op=nl.add)
    return out


FINDING = r"""
error[collective-group]: ncc.all_reduce: rank 2 is in the groups twice
  --> collective-group.py:11:5
    |
 11 |     ncc.all_reduce(srcs=[x], dsts=[out], replica_group=ranks, op=nl.add)
    |     ^^^^^^^^^^^^^^
   = help: list every rank once, in groups of one length, e.g. [[0, 1], [2, 3]]
"""
