import nkijit as nki
import nkijit.collectives as ncc
import nkijit.language as nl


@nki.example(x="512x512:float32", counts="4x4:uint32")
@nki.jit(platform_target="trn2")
def wrong(x, counts):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_to_all_v([x], [out], ranks, metadata_tensor=counts, has_rdispls=True)
    return out


@nki.example(x="512x512:float32", counts="3x4:uint32")
@nki.jit(platform_target="trn2")
def right(x, counts):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_to_all_v([x], [out], ranks, metadata_tensor=counts)
    return out


FINDING = r"""
error[collective-rdispls]: ncc.all_to_all_v: has_rdispls=True needs NeuronCore-v4, the target trn2 is NeuronCore-v3
  --> collective-rdispls.py:11:5
    |
 11 |     ncc.all_to_all_v([x], [out], ranks, metadata_tensor=counts, has_rdispls=True)
    |     ^^^^^^^^^^^^^^^^
   = help: leave has_rdispls out; chunks land at the starts of equal slots
"""
