import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x128:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    turned = x.permute((1, 0))
    tile = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=turned)
    nl.store(out, tile)
    return out


@nki.example(x="128x128:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


FINDING = r"""
warning[small-dma]: nisa.dma_copy: moves 65536 bytes in 16384 descriptors of 4 bytes, which takes about 37901 cycles more than in long ones
  --> small-dma.py:12:23
    |
 12 |     nisa.dma_copy(dst=tile, src=turned)
    |                       ^^^^      ^^^^^^
   = dst: %tile, sbuf 128x128 float32, allocated at small-dma.py:11:12
   = src: %x, private_hbm 128x128 float32, a view of %x (private_hbm 128x128 float32), an argument of the kernel
   = help: make the last dimension of both sides longer or contiguous, or load several rows at once
"""
