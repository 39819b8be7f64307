import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="1024x512:float32", rows="64x1:float32")
@nki.jit
def wrong(x, rows):
    out = nl.ndarray((64, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((64, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x.ap([[512, 64], [1, 512]], vector_offset=nl.load(rows)))
    nl.store(out, tile)
    return out


@nki.example(x="1024x512:float32", rows="64x1:float32")
@nki.jit
def right(x, rows):
    out = nl.ndarray((64, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((64, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(
        dst=tile, src=x.ap([[512, 64], [1, 512]], vector_offset=nl.load(rows, dtype=nl.int32))
    )
    nl.store(out, tile)
    return out


FINDING = r"""
error[index-tile]: nki.view: 'index' must be int32 or uint32, it is float32
  --> index-tile.py:11:5
    |
 11 |     nisa.dma_copy(dst=tile, src=x.ap([[512, 64], [1, 512]], vector_offset=nl.load(rows)))
    |     ^^^^^^^^^^^^^
   = index: %sbuf, sbuf 64x1 float32, allocated at index-tile.py:11:75
   = help: allocate the index as nl.int32, or copy it into a tile of nl.int32 with nisa.tensor_copy, which converts the numbers
"""
