import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    scale = nl.full((128, 1), 2.0, x.dtype, nl.sbuf)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    scale = nl.full((128, 1), 2.0, x.dtype, nl.sbuf)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=scale)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[redundant-fill]: nl.full: nothing reads what it writes: about 64 cycles
  --> redundant-fill.py:11:13
    |
 11 |     scale = nl.full((128, 1), 2.0, x.dtype, nl.sbuf)
    |             ^^^^^^^
   = dst: %scale, sbuf 128x1 float32, allocated at redundant-fill.py:11:13
   = nl.full is implemented with nisa.memset
   = help: use the filled tile before it is overwritten, or remove the instruction
"""
