import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="32x512:float32", index="32x4:uint32")
@nki.jit
def wrong(x, index):
    out = nl.ndarray((32, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 0))
    numbers = nl.ndarray(index.shape, dtype=index.dtype, buffer=nl.sbuf, address=(32, 0))
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=numbers, src=index)
    found = nl.ndarray((32, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=found, src=tile.indirect(numbers))
    nl.store(out, found)
    return out


@nki.example(x="32x512:float32", index="32x4:uint32")
@nki.jit
def right(x, index):
    out = nl.ndarray((32, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 0))
    numbers = nl.ndarray(index.shape, dtype=index.dtype, buffer=nl.sbuf, address=(0, 2048))
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=numbers, src=index)
    found = nl.ndarray((32, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=found, src=tile.indirect(numbers))
    nl.store(out, found)
    return out


FINDING = r"""
error[indirect-partition]: nisa.tensor_copy: the index of 'src' starts at partition 32, 'src' at 0
  --> indirect-partition.py:15:37
    |
 15 |     nisa.tensor_copy(dst=found, src=tile.indirect(numbers))
    |                                     ^^^^^^^^^^^^^^^^^^^^^^
   = src: %tile, sbuf 32x64 float32, a view of %tile (sbuf 32x512 float32), allocated at indirect-partition.py:10:12
   = help: let the tile and its index start at partition 0, 32, 64 or 96 together
"""
