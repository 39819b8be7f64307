import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x256:bfloat16")
@nki.jit
def wrong(x):
    data = nl.ndarray((128, 256), dtype=nl.float8_e4m3fn_x4, buffer=nl.shared_hbm)
    scales = nl.ndarray((128, 256), dtype=nl.uint8, buffer=nl.shared_hbm)
    packed = nl.ndarray((128, 256), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)
    scale = nl.zeros((128, 256), dtype=nl.uint8)
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
error[quantize-shape]: nisa.quantize_mx: 'dst' must be (128, 64), it has 128 partitions and 256 elements per partition
  --> quantize-shape.py:13:26
    |
 13 |     nisa.quantize_mx(dst=packed, src=nl.load(x), dst_scale=scale)
    |                          ^^^^^^      ^^^^^^^^^^
   = dst: %packed, sbuf 128x256 float8_e4m3fn_x4, allocated at quantize-shape.py:11:14
   = src: %sbuf, sbuf 128x256 bfloat16, allocated at quantize-shape.py:13:38
   = help: allocate dst with the partitions of src and a quarter of its elements per partition
"""
