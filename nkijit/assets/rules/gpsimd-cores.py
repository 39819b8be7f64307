import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="100x512:float32", index="100x4:uint16")
@nki.jit
def wrong(x, index):
    out = nl.ndarray((100, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, at = nl.load(x), nl.load(index)
    found = nl.ndarray((100, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.local_gather(dst=found, src_buffer=tile, index=at)
    nl.store(out, found)
    return out


@nki.example(x="100x512:float32", index="100x4:uint16")
@nki.jit
def right(x, index):
    out = nl.ndarray((100, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, at = nl.zeros((112, 512), dtype=x.dtype), nl.zeros((112, 4), dtype=index.dtype)
    nisa.dma_copy(dst=tile[0:100], src=x)
    nisa.dma_copy(dst=at[0:100], src=index)
    found = nl.ndarray((112, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.local_gather(dst=found, src_buffer=tile, index=at)
    nl.store(out, found[0:100])
    return out


FINDING = r"""
error[gpsimd-cores]: nisa.local_gather: 'src_buffer' has 100 partitions, not a multiple of 16
  --> gpsimd-cores.py:12:45
    |
 12 |     nisa.local_gather(dst=found, src_buffer=tile, index=at)
    |                                             ^^^^
   = src_buffer: %sbuf, sbuf 100x512 float32, allocated at gpsimd-cores.py:10:16
   = help: allocate the tile with a multiple of 16 partitions, and use a part of it
"""
