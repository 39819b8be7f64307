import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x65536:bfloat16")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.zeros((128, 512), dtype=x.dtype)
    for k in range(128):
        tile = nl.load(x[:, k * 512 : (k + 1) * 512])
        nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
    nl.store(out, total)
    return out


@nki.example(x="128x65536:bfloat16")
@nki.jit
def right(x):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.zeros((128, 512), dtype=nl.float32)
    for k in range(128):
        tile = nl.load(x[:, k * 512 : (k + 1) * 512])
        nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
    nl.store(out, total)
    return out


FINDING = r"""
warning[rounded-sum]: nisa.tensor_tensor: adds 128 terms one after the other, and rounds each sum to bfloat16
  --> rounded-sum.py:13:32
    |
 13 |         nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
    |                                ^^^^^
   = dst: %total, sbuf 128x512 bfloat16, allocated at rounded-sum.py:10:13
   = help: allocate total as nl.float32, and convert it to bfloat16 after the last addition
"""
