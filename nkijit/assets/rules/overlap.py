import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_copy(dst=tile[:, 1:512], src=tile[:, 0:511])
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile, moved = nl.load(x), nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=moved[:, 0:1], value=0.0)
    nisa.tensor_copy(dst=moved[:, 1:512], src=tile[:, 0:511])
    nl.store(out, moved)
    return out


FINDING = r"""
warning[overlap]: nisa.tensor_copy: 'dst' overlaps 'src', whose elements are overwritten before they are read
  --> overlap.py:11:26
    |
 11 |     nisa.tensor_copy(dst=tile[:, 1:512], src=tile[:, 0:511])
    |                          ^^^^^^^^^^^^^^      ^^^^^^^^^^^^^^
   = dst: %tile, sbuf 128x511 float32, a view of %tile (sbuf 128x512 float32), allocated at overlap.py:10:12
   = src: %tile, sbuf 128x511 float32, a view of %tile (sbuf 128x512 float32), allocated at overlap.py:10:12
   = help: write to a tile of its own, or to exactly what is read
"""
