import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="16x512x128:bfloat16")
@nki.jit
def wrong(x):
    out = nl.ndarray((16, 128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((16, 128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(dst=tile, src=x, axes=(0, 2, 1))
    nl.store(out, tile)
    return out


@nki.example(x="16x512x128:bfloat16")
@nki.jit
def right(x):
    out = nl.ndarray((16, 128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(16):
        tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_transpose(dst=tile, src=x[i])
        nl.store(out[i], tile)
    return out


FINDING = r"""
error[transpose-axes]: nisa.dma_transpose: 'axes' must be (2, 1, 0) for 3 dimensions, it is (0, 2, 1)
  --> transpose-axes.py:11:38
    |
 11 |     nisa.dma_transpose(dst=tile, src=x, axes=(0, 2, 1))
    |                                      ^
   = src: %x, private_hbm 16x512x128 bfloat16, an argument of the kernel
   = help: leave axes= out, which reverses the dimensions, and loop over those that stay in place
"""
