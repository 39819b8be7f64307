import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x64:bfloat16")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(dst=tile, src=x)
    nl.store(out, tile)
    return out


@nki.example(x="128x64:bfloat16")
@nki.jit
def right(x):
    out = nl.ndarray((64, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((64, 128), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(dst=tile, src=x)
    nl.store(out, tile)
    return out


FINDING = r"""
error[dma-transpose-shape]: nisa.dma_transpose: 'dst' must have shape (64, 128), it has (128, 64)
  --> dma-transpose-shape.py:11:28
    |
 11 |     nisa.dma_transpose(dst=tile, src=x)
    |                            ^^^^      ^
   = dst: %tile, sbuf 128x64 bfloat16, allocated at dma-transpose-shape.py:10:12
   = src: %x, private_hbm 128x64 bfloat16, an argument of the kernel
   = help: allocate dst with the permuted shape of src
"""
