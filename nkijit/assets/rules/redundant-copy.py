import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    copied = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=copied, src=tile)
    nl.store(out, copied)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[redundant-copy]: nisa.tensor_copy: 'dst' holds the same as 'src' as long as it is used: about 316 cycles
  --> redundant-copy.py:12:26
    |
 12 |     nisa.tensor_copy(dst=copied, src=tile)
    |                          ^^^^^^      ^^^^
   = dst: %copied, sbuf 128x512 float32, allocated at redundant-copy.py:11:14
   = src: %tile, sbuf 128x512 float32, allocated at redundant-copy.py:10:12
   = help: use 'src' where 'dst' is used, and remove the copy
"""
