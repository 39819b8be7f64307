import nkijit as nki
import nkijit.collectives as ncc
import nkijit.language as nl


@nki.example(a="128x512:float32", b="128x512:float32")
@nki.jit
def wrong(a, b):
    left = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    right = nl.ndarray(b.shape, dtype=b.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.collective_permute_implicit([[a], [b]], [[left], [right]], ranks, channel_ids=[1, 2])
    return left, right


@nki.example(a="128x512:float32", b="128x512:float32")
@nki.jit
def right(a, b):
    left = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    right = nl.ndarray(b.shape, dtype=b.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    ncc.collective_permute_implicit([[a], [b]], [[left], [right]], ranks, channel_ids=[0, 1])
    return left, right


FINDING = r"""
error[collective-channels]: ncc.collective_permute_implicit: 'channel_ids' must count from 0, it is [1, 2]
  --> collective-channels.py:12:87
    |
 12 |     ncc.collective_permute_implicit([[a], [b]], [[left], [right]], ranks, channel_ids=[1, 2])
    |                                                                                       ^^^^^^
   = help: pass channel_ids=[0, 1, …], one for each tensor
"""
