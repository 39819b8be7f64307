import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(a="256x128:float32", b="256x128:float32")
@nki.jit
def wrong(a, b):
    out = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.shared_hbm)
    blocks = [(nl.load(a[k : k + 128]), nl.load(b[k : k + 128])) for k in (0, 128)]
    sums = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
    for left, right in blocks:
        for n in (0, 64):
            nisa.nc_matmul(dst=sums[:, n : n + 64], stationary=left, moving=right[:, n : n + 64])
    nl.store(out, nl.copy(sums))
    return out


@nki.example(a="256x128:float32", b="256x128:float32")
@nki.jit
def right(a, b):
    out = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.shared_hbm)
    blocks = [(nl.load(a[k : k + 128]), nl.load(b[k : k + 128])) for k in (0, 128)]
    sums = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
    for n in (0, 64):
        for left, right in blocks:
            nisa.nc_matmul(dst=sums[:, n : n + 64], stationary=left, moving=right[:, n : n + 64])
    nl.store(out, nl.copy(sums))
    return out


FINDING = r"""
warning[psum-interleaved]: nisa.nc_matmul: goes on with a group while another one is open in the same PSUM bank
  --> psum-interleaved.py:14:32
    |
 14 |             nisa.nc_matmul(dst=sums[:, n : n + 64], stationary=left, moving=right[:, n : n + 64])
    |                                ^^^^^^^^^^^^^^^^^^^
  ::: psum-interleaved.py:14:13
    |
 14 |             nisa.nc_matmul(dst=sums[:, n : n + 64], stationary=left, moving=right[:, n : n + 64])
    |             -------------- the group began at nisa.nc_matmul
  ::: psum-interleaved.py:14:13
    |
 14 |             nisa.nc_matmul(dst=sums[:, n : n + 64], stationary=left, moving=right[:, n : n + 64])
    |             -------------- the other at nisa.nc_matmul
   = dst: %sums, psum 128x64 float32, a view of %sums (psum 128x128 float32), allocated at psum-interleaved.py:11:12
   = the same finding 2 times at this place, in an unrolled loop or call
   = help: finish one group before the next begins, or give each a bank of its own
"""
