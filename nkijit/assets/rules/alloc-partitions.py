import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="256x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((256, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nl.store(out, tile)
    return out


@nki.example(x="256x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(2):
        tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[128 * i : 128 * i + 128])
        nl.store(out[128 * i : 128 * i + 128], tile)
    return out


FINDING = r"""
error[alloc-partitions]: nl.ndarray: a tile in sbuf has at most 128 partitions, this one has 256
  --> alloc-partitions.py:10:12
    |
 10 |     tile = nl.ndarray((256, 512), dtype=x.dtype, buffer=nl.sbuf)
    |            ^^^^^^^^^^
   = result: %tile, sbuf 256x512 float32, allocated at alloc-partitions.py:10:12
   = help: loop over 2 tiles of 128 rows; or allocate (128, 2, 512), and let a tile have 2 rows in each partition
"""
