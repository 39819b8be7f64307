import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit(platform_target="trn2")
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.exponential(dst=tile, src=tile)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit(platform_target="trn2")
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.exp, data=tile)
    nl.store(out, tile)
    return out


FINDING = r"""
error[generation]: nisa.exponential: the instruction needs NeuronCore-v4, the target trn2 is NeuronCore-v3
  --> generation.py:11:5
    |
 11 |     nisa.exponential(dst=tile, src=tile)
    |     ^^^^^^^^^^^^^^^^
   = help: choose another instruction, or trace for a newer target with platform_target=
"""
