import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activate2(dst=tile, op=nl.exp, data=tile, imm0=0.5, imm1=2.0, op0=nl.add, op1=nl.multiply)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activate2(dst=tile, op=nl.exp, data=tile, imm0=2.0, imm1=1.0, op0=nl.multiply, op1=nl.add)
    nl.store(out, tile)
    return out


FINDING = r"""
error[op-pair]: nisa.activate2: (op0, op1) is (add, multiply), legal are (multiply, add), (multiply, subtract), (multiply, bypass), (add, bypass), (subtract, bypass), (bypass, bypass)
  --> op-pair.py:11:5
    |
 11 |     nisa.activate2(dst=tile, op=nl.exp, data=tile, imm0=0.5, imm1=2.0, op0=nl.add, op1=nl.multiply)
    |     ^^^^^^^^^^^^^^
   = help: pass one of the six, e.g. op0=nl.multiply, op1=nl.add; nl.bypass leaves a step out
"""
