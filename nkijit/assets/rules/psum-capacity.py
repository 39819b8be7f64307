import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:bfloat16")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    sums = [nl.matmul(tile[:, 0:128], tile, transpose_x=True) for _ in range(9)]
    total = nl.copy(sums[0])
    for sum in sums[1:]:
        nisa.tensor_tensor(dst=total, data1=total, data2=sum, op=nl.add)
    nl.store(out, total)
    return out


@nki.example(x="128x512:bfloat16")
@nki.jit
def right(x):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.full((128, 512), 0.0, nl.float32, nl.sbuf)
    for _ in range(9):
        sum = nl.matmul(tile[:, 0:128], tile, transpose_x=True)
        nisa.tensor_tensor(dst=total, data1=total, data2=sum, op=nl.add)
    nl.store(out, total)
    return out


FINDING = r"""
error[psum-capacity]: nl.matmul: the tiles in use here need 18432 bytes per partition of PSUM, trn3 has 16384 for a kernel
  --> psum-capacity.py:11:13
    |
 11 |     sums = [nl.matmul(tile[:, 0:128], tile, transpose_x=True) for _ in range(9)]
    |             ^^^^^^^^^
   = tile   shape and type      bytes  in use          allocated at
   = %psum  128x512 float32  9 x 2048  lines 11 to 14  psum-capacity.py:11:13
   = nl.matmul is implemented with nisa.nc_matmul
   = help: copy results to SBUF earlier and keep at most 8 of the 9 tiles 'psum' in use at a time
"""
