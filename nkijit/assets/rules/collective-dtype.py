import nkijit as nki
import nkijit.collectives as ncc
import nkijit.language as nl


@nki.example(x="128x512:bfloat16")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_reduce(srcs=[x], dsts=[out], replica_group=ranks, op=nl.add)
    return out


@nki.example(x="128x512:bfloat16")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.all_reduce(srcs=[x], dsts=[out], replica_group=ranks, op=nl.add)
    return out


FINDING = r"""
error[collective-dtype]: ncc.all_reduce: different data types: 'srcs' is bfloat16, 'dsts' is float32
  --> collective-dtype.py:11:25
    |
 11 |     ncc.all_reduce(srcs=[x], dsts=[out], replica_group=ranks, op=nl.add)
    |                         ^^^       ^^^^^
   = srcs: %x, private_hbm 128x512 bfloat16, an argument of the kernel
   = dsts: %out, shared_hbm 128x512 float32, allocated at collective-dtype.py:9:11
   = help: allocate the destination with the data type of the source
"""
