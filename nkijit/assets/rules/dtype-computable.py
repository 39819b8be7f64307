import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float8_e4m3fn_x4")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.exp, data=tile)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float8_e4m3fn_x4")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


FINDING = r"""
error[dtype-computable]: nisa.activation: engines do not convert 'dst', a float8_e4m3fn_x4
  --> dtype-computable.py:11:25
    |
 11 |     nisa.activation(dst=tile, op=nl.exp, data=tile)
    |                         ^^^^
   = dst: %tile, sbuf 128x512 float8_e4m3fn_x4, allocated at dtype-computable.py:10:12
   = help: copy or multiply packed data with nisa.nc_matmul_mx; compute on float32 or bfloat16 before nisa.quantize_mx packs it
"""
