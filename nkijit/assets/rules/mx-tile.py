import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="100x256:bfloat16")
@nki.jit
def wrong(x):
    data = nl.ndarray((100, 64), dtype=nl.float8_e4m3fn_x4, buffer=nl.shared_hbm)
    scales = nl.ndarray((100, 64), dtype=nl.uint8, buffer=nl.shared_hbm)
    packed = nl.ndarray((100, 64), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)
    scale = nl.zeros((100, 64), dtype=nl.uint8)
    nisa.quantize_mx(dst=packed, src=nl.load(x), dst_scale=scale)
    nl.store(data, packed)
    nl.store(scales, scale)
    return data, scales


@nki.example(x="100x256:bfloat16")
@nki.jit
def right(x):
    data = nl.ndarray((128, 64), dtype=nl.float8_e4m3fn_x4, buffer=nl.shared_hbm)
    scales = nl.ndarray((128, 64), dtype=nl.uint8, buffer=nl.shared_hbm)
    packed = nl.ndarray((128, 64), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)
    scale = nl.zeros((128, 64), dtype=nl.uint8)
    tile = nl.zeros((128, 256), dtype=x.dtype)
    nisa.dma_copy(dst=tile[0:100], src=x)
    nisa.quantize_mx(dst=packed, src=tile, dst_scale=scale)
    nl.store(data, packed)
    nl.store(scales, scale)
    return data, scales


FINDING = r"""
error[mx-tile]: nisa.quantize_mx: 'src' must have a multiple of 32 partitions up to 128, it has 100
  --> mx-tile.py:13:38
    |
 13 |     nisa.quantize_mx(dst=packed, src=nl.load(x), dst_scale=scale)
    |                                      ^^^^^^^^^^
   = src: %sbuf, sbuf 100x256 bfloat16, allocated at mx-tile.py:13:38
   = help: pad the data with zeros: rows to a multiple of 32, stationary columns to an even number, elements to quantize to a multiple of 4
"""
