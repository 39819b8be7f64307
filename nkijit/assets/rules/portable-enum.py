from enum import IntFlag

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


class Step(IntFlag):
    scale = 1
    exp = 2


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    steps = Step.scale | Step.exp
    tile = nl.load(x)
    if steps & Step.exp:
        nisa.activation(dst=tile, op=nl.exp, data=tile)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    steps = Step.scale.value | Step.exp.value
    tile = nl.load(x)
    if steps & Step.exp.value:
        nisa.activation(dst=tile, op=nl.exp, data=tile)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[portable-enum]: kernel 'wrong': Step.scale is the operand of an operator
  --> portable-enum.py:17:13
    |
 17 |     steps = Step.scale | Step.exp
    |             ^^^^^^^^^^
   = help: compute with the member's .value
"""
