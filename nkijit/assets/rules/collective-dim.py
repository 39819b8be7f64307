import nkijit as nki
import nkijit.collectives as ncc
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 4 * 512), dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_gather(srcs=[x], dsts=[out], replica_group=ranks, collective_dim=1)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((4 * 128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_gather(srcs=[x], dsts=[out], replica_group=ranks, collective_dim=0)
    return out


FINDING = r"""
error[collective-dim]: ncc.all_gather: 'collective_dim' is 1, in HBM it is 0
  --> collective-dim.py:11:78
    |
 11 |     ncc.all_gather(srcs=[x], dsts=[out], replica_group=ranks, collective_dim=1)
    |                                                                              ^
   = help: use collective_dim=0
"""
