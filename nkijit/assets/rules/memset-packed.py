import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def wrong():
    out = nl.ndarray((128, 64), dtype=nl.float8_e4m3fn_x4, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 64), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=1.0)
    nl.store(out, tile)
    return out


@nki.jit
def right():
    out = nl.ndarray((128, 64), dtype=nl.float8_e4m3fn_x4, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 64), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=0.0)
    nl.store(out, tile)
    return out


FINDING = r"""
error[memset-packed]: nisa.memset: 'dst' is float8_e4m3fn_x4 and can only be set to 0, 'value' is 1.0
  --> memset-packed.py:10:21
    |
 10 |     nisa.memset(dst=tile, value=1.0)
    |                     ^^^^
   = dst: %tile, sbuf 128x64 float8_e4m3fn_x4, allocated at memset-packed.py:9:12
   = help: set it to 0, or write the packed bits through a view of an integer type
"""
