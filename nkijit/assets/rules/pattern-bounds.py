import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 256), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, odd = nl.load(x), nl.ndarray((128, 256), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=odd, src=tile.ap([[512, 128], [2, 256]], offset=2))
    nl.store(out, odd)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 256), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, odd = nl.load(x), nl.ndarray((128, 256), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=odd, src=tile.ap([[512, 128], [2, 256]], offset=1))
    nl.store(out, odd)
    return out


FINDING = r"""
error[pattern-bounds]: nki.view: the pattern touches elements 2 to 512 of partitions of 512 float32
  --> pattern-bounds.py:11:5
    |
 11 |     nisa.tensor_copy(dst=odd, src=tile.ap([[512, 128], [2, 256]], offset=2))
    |     ^^^^^^^^^^^^^^^^
   = result: %sbuf, sbuf 128x256 float32, a view of %sbuf (sbuf 128x512 float32), allocated at pattern-bounds.py:10:17
   = help: change the pattern or its offset, or allocate a tensor that has these elements
"""
