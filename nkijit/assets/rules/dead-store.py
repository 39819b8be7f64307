import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    scaled = nl.multiply(tile, 2.0)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    scaled = nl.multiply(tile, 2.0)
    nl.store(out, scaled)
    return out


FINDING = r"""
warning[dead-store]: nl.multiply: nothing reads what it writes: about 316 cycles
  --> dead-store.py:10:14
    |
 10 |     scaled = nl.multiply(tile, 2.0)
    |              ^^^^^^^^^^^
   = dst: %scaled, sbuf 128x512 float32, allocated at dead-store.py:10:14
   = nl.multiply is implemented with nisa.tensor_scalar
   = help: use what it writes (read it, or store it to a tensor that is returned), or remove the instruction
"""
