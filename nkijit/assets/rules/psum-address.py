import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(a="128x128:bfloat16", b="128x512:bfloat16")
@nki.jit
def wrong(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    sums = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum, address=(0, 1024))
    nisa.nc_matmul(dst=sums, stationary=nl.load(a), moving=nl.load(b))
    nl.store(out, nl.copy(sums))
    return out


@nki.example(a="128x128:bfloat16", b="128x512:bfloat16")
@nki.jit
def right(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    sums = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum, address=(0, 2048))
    nisa.nc_matmul(dst=sums, stationary=nl.load(a), moving=nl.load(b))
    nl.store(out, nl.copy(sums))
    return out


FINDING = r"""
error[psum-address]: nl.ndarray: the tile is at byte 1024 of PSUM bank 0
  --> psum-address.py:10:12
    |
 10 |     sums = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum, address=(0, 1024))
    |            ^^^^^^^^^^
   = result: %sums, psum 128x512 float32, allocated at psum-address.py:10:12
   = help: begin at a bank, e.g. address=(0, 0); a bank has 2048 bytes (nl.tile_size.psum_bank_fmax_bytes)
"""
