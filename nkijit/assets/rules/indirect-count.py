import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32", index="128x4:uint32")
@nki.jit
def wrong(x, index):
    out = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, numbers = nl.load(x), nl.load(index)
    found = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=found, src=tile.indirect(numbers, num_elem=128))
    nl.store(out, found)
    return out


@nki.example(x="128x512:float32", index="128x4:uint32")
@nki.jit
def right(x, index):
    out = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, numbers = nl.load(x), nl.load(index)
    found = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=found, src=tile.indirect(numbers, num_elem=64))
    nl.store(out, found)
    return out


FINDING = r"""
error[indirect-count]: nisa.tensor_copy: 'src' has 128 elements per partition, its index holds 64
  --> indirect-count.py:12:37
    |
 12 |     nisa.tensor_copy(dst=found, src=tile.indirect(numbers, num_elem=128))
    |                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   = src: %sbuf, sbuf 128x128 float32, a view of %sbuf (sbuf 128x512 float32), allocated at indirect-count.py:10:21
   = help: pass a smaller num_elem, or an index tile with more columns
"""
