import nkijit as nki
import nkijit.collectives as ncc
import nkijit.language as nl


@nki.example(flags="128x512:float32")
@nki.jit
def wrong(flags):
    out = nl.ndarray(flags.shape, dtype=flags.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_reduce(srcs=[flags], dsts=[out], replica_group=ranks, op=nl.logical_or)
    return out


@nki.example(flags="128x512:float32")
@nki.jit
def right(flags):
    out = nl.ndarray(flags.shape, dtype=flags.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_reduce(srcs=[flags], dsts=[out], replica_group=ranks, op=nl.maximum)
    return out


FINDING = r"""
error[collective-operator]: ncc.all_reduce: 'op' is nl.logical_or
  --> collective-operator.py:11:70
    |
 11 |     ncc.all_reduce(srcs=[flags], dsts=[out], replica_group=ranks, op=nl.logical_or)
    |                                                                      ^^^^^^^^^^^^^
   = help: pass op=nl.add, op=nl.minimum or op=nl.maximum
"""
