import nkijit as nki
import nkijit.language as nl


@nki.example(x="512x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(4):
        tile = nl.load(x[0:128])
        nl.store(out[128 * i : 128 * i + 128], tile)
    return out


@nki.example(x="512x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x[0:128])
    for i in range(4):
        nl.store(out[128 * i : 128 * i + 128], tile)
    return out


FINDING = r"""
warning[repeated-load]: nl.load: brings 262144 bytes that SBUF has held before
  --> repeated-load.py:10:24
    |
 10 |         tile = nl.load(x[0:128])
    |                        ^^^^^^^^
   = dst: %tile, sbuf 128x512 float32, allocated at repeated-load.py:10:16
   = src: %x, private_hbm 128x512 float32, a view of %x (private_hbm 512x512 float32), an argument of the kernel
   = the same finding 3 times at this place, in an unrolled loop or call
   = nl.load is implemented with nisa.dma_copy
   = help: load them once, before the loop, into a tile that stays (nkijit advise shows the gain)
"""
