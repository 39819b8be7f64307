import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x256:bfloat16")
@nki.jit
def wrong(x):
    data = nl.ndarray((128, 64), dtype=nl.float8_e4m3fn_x4, buffer=nl.shared_hbm)
    scales = nl.ndarray((16, 64), dtype=nl.uint8, buffer=nl.shared_hbm)
    packed = nl.ndarray((128, 64), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)
    scale = nl.zeros((16, 64), dtype=nl.uint8)
    nisa.quantize_mx(dst=packed, src=nl.load(x), dst_scale=scale)
    nl.store(data, packed)
    nl.store(scales, scale)
    return data, scales


@nki.example(x="128x256:bfloat16")
@nki.jit
def right(x):
    data = nl.ndarray((128, 64), dtype=nl.float8_e4m3fn_x4, buffer=nl.shared_hbm)
    scales = nl.ndarray((128, 64), dtype=nl.uint8, buffer=nl.shared_hbm)
    packed = nl.ndarray((128, 64), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)
    scale = nl.zeros((128, 64), dtype=nl.uint8)
    nisa.quantize_mx(dst=packed, src=nl.load(x), dst_scale=scale)
    nl.store(data, packed)
    nl.store(scales, scale)
    return data, scales


FINDING = r"""
error[mx-scale]: nisa.quantize_mx: 'dst_scale' must have at least 100 partitions for the 128 of 'dst', it has 16
  --> mx-scale.py:13:60
    |
 13 |     nisa.quantize_mx(dst=packed, src=nl.load(x), dst_scale=scale)
    |                          ^^^^^^                            ^^^^^
   = dst_scale: %scale, sbuf 16x64 uint8, allocated at mx-scale.py:12:13
   = dst: %packed, sbuf 128x64 float8_e4m3fn_x4, allocated at mx-scale.py:11:14
   = help: for data of (P, F) x4 elements allocate scales of (P, F), or of (P // 8, F) when P is 32; slice them at partition 0, 4, 8 or 12
"""
