import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit(platform_target="trn2")
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x, priority=0)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit(platform_target="trn2")
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nl.store(out, tile)
    return out


FINDING = r"""
error[argument-generation]: nisa.dma_copy: 'priority' needs NeuronCore-v4, the target trn2 is NeuronCore-v3
  --> argument-generation.py:11:45
    |
 11 |     nisa.dma_copy(dst=tile, src=x, priority=0)
    |                                             ^
   = help: leave the argument at its default, or trace for a newer target with platform_target=
"""
