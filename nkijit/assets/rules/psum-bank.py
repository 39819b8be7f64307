import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(a="128x128:bfloat16", b="128x512:bfloat16")
@nki.jit(platform_target="trn2")
def wrong(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    sums = nl.ndarray((128, 1024), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=sums[:, 256:768], stationary=nl.load(a), moving=nl.load(b))
    nl.store(out, nl.copy(sums[:, 256:768]))
    return out


@nki.example(a="128x128:bfloat16", b="128x512:bfloat16")
@nki.jit(platform_target="trn2")
def right(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    sums = nl.ndarray((128, 1024), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=sums[:, 512:1024], stationary=nl.load(a), moving=nl.load(b))
    nl.store(out, nl.copy(sums[:, 512:1024]))
    return out


FINDING = r"""
error[psum-bank]: nisa.nc_matmul: 'dst' reaches from byte 1024 to byte 3071 of a partition, over banks 0 to 1; a bank has 2048 bytes
  --> psum-bank.py:11:24
    |
 11 |     nisa.nc_matmul(dst=sums[:, 256:768], stationary=nl.load(a), moving=nl.load(b))
    |                        ^^^^^^^^^^^^^^^^
   = dst: %sums, psum 128x512 float32, a view of %sums (psum 128x1024 float32), allocated at psum-bank.py:10:12
   = help: let the slice of dst begin and end in one bank, or give each bank a tile of its own
"""
