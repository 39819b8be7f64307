import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32", index="128x4:uint32")
@nki.jit
def wrong(x, index):
    out = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, numbers = nl.load(x), nl.load(index)
    found = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=found, src=tile.indirect(numbers), engine=nisa.engine.gpsimd)
    nl.store(out, found)
    return out


@nki.example(x="128x512:float32", index="128x4:uint32")
@nki.jit
def right(x, index):
    out = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, numbers = nl.load(x), nl.load(index)
    found = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=found, src=tile.indirect(numbers), engine=nisa.engine.vector)
    nl.store(out, found)
    return out


FINDING = r"""
error[indirect-engine]: nisa.tensor_copy: 'engine' is gpsimd, and a tile is addressed with .indirect()
  --> indirect-engine.py:12:68
    |
 12 |     nisa.tensor_copy(dst=found, src=tile.indirect(numbers), engine=nisa.engine.gpsimd)
    |                                                                    ^^^^^^^^^^^^^^^^^^
   = help: pass engine=nisa.engine.vector, or scatter to a tile in SBUF
"""
