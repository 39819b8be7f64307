import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:bfloat16")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x, dtype=nl.float32)
    nl.store(out, nl.copy(nl.matmul(tile[:, 0:128], tile, transpose_x=True)))
    return out


@nki.example(x="128x512:bfloat16")
@nki.jit
def right(x):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, nl.copy(nl.matmul(tile[:, 0:128], tile, transpose_x=True)))
    return out


FINDING = r"""
warning[widened-matmul]: nl.matmul: multiplies what came in as bfloat16 as float32, in 4 passes: about 1938 cycles
  --> widened-matmul.py:10:27
    |
 10 |     nl.store(out, nl.copy(nl.matmul(tile[:, 0:128], tile, transpose_x=True)))
    |                           ^^^^^^^^^
   = stationary: %tile, sbuf 128x128 float32, a view of %tile (sbuf 128x512 float32), allocated at widened-matmul.py:9:12
   = moving: %tile, sbuf 128x512 float32, allocated at widened-matmul.py:9:12
   = nl.matmul is implemented with nisa.nc_matmul
   = help: pass the tiles as they were loaded to the matmul, without the cast to float32
"""
