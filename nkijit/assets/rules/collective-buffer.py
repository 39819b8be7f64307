import nkijit as nki
import nkijit.collectives as ncc
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    tile = nl.load(x)
    ncc.all_reduce(srcs=[tile], dsts=[out], replica_group=ranks, op=nl.add)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_reduce(srcs=[x], dsts=[out], replica_group=ranks, op=nl.add)
    return out


FINDING = r"""
error[collective-buffer]: ncc.all_reduce: 'srcs' lives in sbuf, 'dsts' lives in shared_hbm
  --> collective-buffer.py:12:25
    |
 12 |     ncc.all_reduce(srcs=[tile], dsts=[out], replica_group=ranks, op=nl.add)
    |                         ^^^^^^
   = help: copy tiles to tensors in HBM with nl.store first
"""
