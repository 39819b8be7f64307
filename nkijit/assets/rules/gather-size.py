import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32", index="128x4:uint16")
@nki.jit
def wrong(x, index):
    out = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
    nisa.local_gather(dst=tile, src_buffer=nl.load(x), index=nl.load(index), num_elem_per_idx=3)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32", index="128x4:uint16")
@nki.jit
def right(x, index):
    out = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
    nisa.local_gather(dst=tile, src_buffer=nl.load(x), index=nl.load(index), num_elem_per_idx=2)
    nl.store(out, tile)
    return out


FINDING = r"""
error[gather-size]: nisa.local_gather: 'num_elem_per_idx' must be one of 1, 2, 4, 8, 16, 32, it is 3
  --> gather-size.py:11:95
    |
 11 |     nisa.local_gather(dst=tile, src_buffer=nl.load(x), index=nl.load(index), num_elem_per_idx=3)
    |                                                                                               ^
   = help: pass num_elem_per_idx=1, 2, 4, 8, 16 or 32, and allocate dst with num_valid_indices * num_elem_per_idx elements per partition
"""
