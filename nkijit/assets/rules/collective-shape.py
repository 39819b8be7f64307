import nkijit as nki
import nkijit.collectives as ncc
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_gather(srcs=[x], dsts=[out], replica_group=ranks, collective_dim=0)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((4 * 128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_gather(srcs=[x], dsts=[out], replica_group=ranks, collective_dim=0)
    return out


FINDING = r"""
error[collective-shape]: ncc.all_gather: 'dsts' has shape (128, 512); 'srcs' of shape (128, 512) and groups of 4 ranks need (512, 512)
  --> collective-shape.py:11:35
    |
 11 |     ncc.all_gather(srcs=[x], dsts=[out], replica_group=ranks, collective_dim=0)
    |                                   ^^^^^
   = dsts: %out, shared_hbm 128x512 float32, allocated at collective-shape.py:9:11
   = help: allocate the destination with the shape that the message gives
"""
