import nkijit as nki
import nkijit.collectives as ncc
import nkijit.language as nl


@nki.example(x="512x512:float32", counts="3x4:int32")
@nki.jit
def wrong(x, counts):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_to_all_v([x], [out], replica_group=ranks, metadata_tensor=counts)
    return out


@nki.example(x="512x512:float32", counts="3x4:uint32")
@nki.jit
def right(x, counts):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_to_all_v([x], [out], replica_group=ranks, metadata_tensor=counts)
    return out


FINDING = r"""
error[collective-metadata]: ncc.all_to_all_v: 'metadata_tensor' is int32, not uint32
  --> collective-metadata.py:11:71
    |
 11 |     ncc.all_to_all_v([x], [out], replica_group=ranks, metadata_tensor=counts)
    |                                                                       ^^^^^^
   = metadata_tensor: %counts, private_hbm 3x4 int32, an argument of the kernel
   = help: allocate it with dtype=nl.uint32 and shape (3, ranks) in HBM or (1, 3, ranks) in SBUF
"""
