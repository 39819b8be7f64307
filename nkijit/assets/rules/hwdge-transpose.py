import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x64:bfloat16")
@nki.jit
def wrong(x):
    out = nl.ndarray((64, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((64, 128), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(dst=tile, src=x, dge_mode=nisa.dge_mode.hwdge)
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
error[hwdge-transpose]: nisa.dma_transpose: with hwdge 'src' has 16 rows, not 128
  --> hwdge-transpose.py:11:38
    |
 11 |     nisa.dma_transpose(dst=tile, src=x, dge_mode=nisa.dge_mode.hwdge)
    |                                      ^
   = src: %x, private_hbm 128x64 bfloat16, an argument of the kernel
   = help: leave dge_mode= out, or transpose in blocks of 16 rows
"""
