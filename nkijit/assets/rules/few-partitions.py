import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="4x16384:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.exp, data=tile)
    nl.store(out, tile)
    return out


@nki.example(x="4x16384:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x.reshape((128, 512)))
    nisa.activation(dst=tile, op=nl.exp, data=tile)
    nl.store(out.reshape((128, 512)), tile)
    return out


FINDING = r"""
warning[few-partitions]: nisa.activation: uses 4 of 128 partitions; laid over all of them it would take about 15872 cycles less
  --> few-partitions.py:11:25
    |
 11 |     nisa.activation(dst=tile, op=nl.exp, data=tile)
    |                         ^^^^
   = dst: %tile, sbuf 4x16384 float32, allocated at few-partitions.py:10:12
   = help: lay the rows over more partitions: reshape (1, n) in HBM to (128, n // 128) before loading it
"""
