import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32", index="128x4:uint32")
@nki.jit
def wrong(x, index):
    out = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, numbers = nl.load(x), nl.load(index)
    nisa.dma_copy(dst=out, src=tile.indirect(numbers))
    return out


@nki.example(x="128x512:float32", index="128x4:uint32")
@nki.jit
def right(x, index):
    out = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, numbers = nl.load(x), nl.load(index)
    found = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=found, src=tile.indirect(numbers))
    nisa.dma_copy(dst=out, src=found)
    return out


FINDING = r"""
error[indirect-operand]: nisa.dma_copy: 'src' is addressed with .indirect(), which it does not take
  --> indirect-operand.py:11:32
    |
 11 |     nisa.dma_copy(dst=out, src=tile.indirect(numbers))
    |                                ^^^^^^^^^^^^^^^^^^^^^^
   = src: %sbuf, sbuf 128x64 float32, a view of %sbuf (sbuf 128x512 float32), allocated at indirect-operand.py:10:21
   = help: gather into a tile first, with nisa.tensor_copy for .indirect() and nisa.dma_copy for vector_offset=, and pass that tile
"""
