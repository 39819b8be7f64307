import nkijit as nki
import nkijit.collectives as ncc
import nkijit.language as nl


@nki.example(x="128x4x128:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    tile, total = nl.load(x), nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    ncc.all_reduce(srcs=[tile], dsts=[total], replica_group=ranks, op=nl.add)
    nl.store(out, total)
    return out


@nki.example(x="128x4x128:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ranks = ncc.ReplicaGroup([[0, 1, 2, 3]])
    tile, total = nl.load(x), nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    ncc.all_reduce(
        srcs=[tile.flatten_dims(1, 2)],
        dsts=[total.flatten_dims(1, 2)],
        replica_group=ranks,
        op=nl.add,
    )
    nl.store(out, total)
    return out


FINDING = r"""
error[collective-sbuf-dims]: ncc.all_reduce: 'srcs' in SBUF has 3 dimensions
  --> collective-sbuf-dims.py:12:25
    |
 12 |     ncc.all_reduce(srcs=[tile], dsts=[total], replica_group=ranks, op=nl.add)
    |                         ^^^^^^
   = srcs: %sbuf, sbuf 128x4x128 float32, allocated at collective-sbuf-dims.py:11:19
   = help: join the free dimensions, e.g. tile.flatten_dims(1, 2)
"""
