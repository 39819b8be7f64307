import nkijit as nki
import nkijit.collectives as ncc
import nkijit.language as nl


@nki.example(x="128x512:float32", metadata="3x4:uint32")
@nki.jit
def wrong(x, metadata):
    out = nl.ndarray((4 * 128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_gather_v([x], [out], replica_group=ranks, metadata_tensor=metadata)
    return out


@nki.example(x="128x512:float32", metadata="3x4:uint32")
@nki.jit
def right(x, metadata):
    out = nl.ndarray((4 * 128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_gather_v([x], [out], replica_group=ranks, metadata_tensor=metadata)
    return out


right = right[2]


FINDING = r"""
error[collective-launch]: ncc.all_gather_v: the kernel is launched on one core
  --> collective-launch.py:11:5
    |
 11 |     ncc.all_gather_v([x], [out], replica_group=ranks, metadata_tensor=metadata)
    |     ^^^^^^^^^^^^^^^^
   = help: launch it with kernel[2] on groups of four ranks, or pad the chunks and use all_gather
"""
