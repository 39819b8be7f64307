import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="1024x128:float32", index="128x1:uint32")
@nki.jit
def wrong(x, index):
    out = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = x.ap([[128, 128], [1, 128]], vector_offset=nl.load(index))
    tile = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(dst=tile, src=rows)
    nl.store(out, tile)
    return out


@nki.example(x="1024x128:float32", index="128x1:uint32")
@nki.jit
def right(x, index):
    out = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = x.ap([[128, 128], [1, 128]], vector_offset=nl.load(index))
    tile = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=rows)
    tile = nl.transpose(tile)
    nl.store(out, nl.copy(tile))
    return out


FINDING = r"""
error[gather-transpose]: nisa.dma_transpose: with indices 'src' has elements of 2 bytes, it is float32
  --> gather-transpose.py:12:38
    |
 12 |     nisa.dma_transpose(dst=tile, src=rows)
    |                                      ^^^^
   = src: %x, private_hbm 128x128 float32, a view of %x (private_hbm 1024x128 float32), an argument of the kernel
   = help: store 'src' as nl.bfloat16, or gather with nisa.dma_copy and transpose with nisa.nc_transpose
"""
