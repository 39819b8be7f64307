import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def wrong():
    out = nl.ndarray((128, 512), dtype=nl.uint32, buffer=nl.shared_hbm)
    seed = nl.full((128, 1), 42, dtype=nl.uint32)
    nisa.set_rng_seed(src_seeds=seed)
    tile = nl.ndarray((128, 512), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.rng(dst=tile)
    nl.store(out, tile)
    return out


@nki.jit
def right():
    out = nl.ndarray((128, 512), dtype=nl.uint32, buffer=nl.shared_hbm)
    seed = nl.full((1, 1), 42, dtype=nl.uint32)
    nisa.set_rng_seed(src_seeds=seed)
    tile = nl.ndarray((128, 512), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.rng(dst=tile)
    nl.store(out, tile)
    return out


FINDING = r"""
error[seed-shape]: nisa.set_rng_seed: 'src_seeds' must be 1x1, it is 128x1
  --> seed-shape.py:10:33
    |
 10 |     nisa.set_rng_seed(src_seeds=seed)
    |                                 ^^^^
   = src_seeds: %seed, sbuf 128x1 uint32, allocated at seed-shape.py:9:12
   = help: pass a (1, 1) tile, e.g. nl.full((1, 1), 42, dtype=nl.int32)
"""
