import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x384:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, padded = nl.load(x), nl.zeros((128, 512), dtype=x.dtype)
    nisa.activation(dst=padded[:, 0:384], op=nl.exp, data=tile)
    nl.store(out, padded)
    return out


@nki.example(x="128x384:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, padded = nl.load(x), nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=padded[:, 384:512], value=0.0)
    nisa.activation(dst=padded[:, 0:384], op=nl.exp, data=tile)
    nl.store(out, padded)
    return out


FINDING = r"""
warning[output-dependence]: nisa.activation: writes 'padded', and waits for nisa.memset, which writes it
  --> output-dependence.py:11:25
    |
 11 |     nisa.activation(dst=padded[:, 0:384], op=nl.exp, data=tile)
    |                         ^^^^^^^^^^^^^^^^
  ::: output-dependence.py:10:32
    |
 10 |     tile, padded = nl.load(x), nl.zeros((128, 512), dtype=x.dtype)
    |                                -------- writes 'padded'
   = dst: %padded, sbuf 128x384 float32, a view of %padded (sbuf 128x512 float32), allocated at output-dependence.py:10:32
   = help: write the parts of the tile that do not overlap, or let one engine write both
"""
