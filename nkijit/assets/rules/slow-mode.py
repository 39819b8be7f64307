import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x2048:bfloat16")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 2048), dtype=nl.float32, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((128, 2048), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=total, data1=tile, data2=tile, op=nl.add)
    nl.store(out, total)
    return out


@nki.example(x="128x2048:bfloat16")
@nki.jit
def right(x):
    out = nl.ndarray((128, 2048), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((128, 2048), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=total, data1=tile, data2=tile, op=nl.add)
    nl.store(out, total)
    return out


FINDING = r"""
warning[slow-mode]: nisa.tensor_tensor: 'dst' is float32 and the inputs have 16 bits, which loses the mode of 2 elements a cycle: about 1024 cycles
  --> slow-mode.py:11:28
    |
 11 |     nisa.tensor_tensor(dst=total, data1=tile, data2=tile, op=nl.add)
    |                            ^^^^^
   = dst: %total, sbuf 128x2048 float32, allocated at slow-mode.py:10:31
   = help: write the operands one element after the other, and allocate them as nl.bfloat16 or nl.float16
"""
