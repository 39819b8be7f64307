import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activate2(dst=tile, op=nl.exp, data=tile, imm0=0.0, imm1=0.5, op0=nl.bypass, op1=nl.add)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activate2(dst=tile, op=nl.exp, data=tile, imm0=0.5, imm1=0.0, op0=nl.add, op1=nl.bypass)
    nl.store(out, tile)
    return out


FINDING = r"""
error[op1-needs-op0]: nisa.activate2: 'op1' is nl.add, but 'op0' is not set
  --> op1-needs-op0.py:11:91
    |
 11 |     nisa.activate2(dst=tile, op=nl.exp, data=tile, imm0=0.0, imm1=0.5, op0=nl.bypass, op1=nl.add)
    |                                                                                           ^^^^^^
   = help: pass the operator as op0 and its operand as imm0, with op1=nl.bypass; or set op0 as well
"""
