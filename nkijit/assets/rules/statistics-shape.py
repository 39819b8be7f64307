import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x1024:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    stats, found = nl.ndarray((128, 6), dtype=nl.float32), nl.ndarray((128, 2), dtype=nl.float32)
    nisa.bn_stats(dst=stats, data=tile)
    nisa.bn_aggr(dst=found, data=stats)
    nl.store(out, found)
    return out


@nki.example(x="128x1024:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    stats, found = nl.ndarray((128, 12), dtype=nl.float32), nl.ndarray((128, 2), dtype=nl.float32)
    for i in range(2):
        nisa.bn_stats(dst=stats[:, 6 * i : 6 * i + 6], data=tile[:, 512 * i : 512 * i + 512])
    nisa.bn_aggr(dst=found, data=stats)
    nl.store(out, found)
    return out


FINDING = r"""
error[statistics-shape]: nisa.bn_stats: 'data' has 1024 elements per partition, at most 512 are possible
  --> statistics-shape.py:12:35
    |
 12 |     nisa.bn_stats(dst=stats, data=tile)
    |                                   ^^^^
   = data: %tile, sbuf 128x1024 float32, allocated at statistics-shape.py:10:12
   = help: call bn_stats on tiles of at most nl.tile_size.bn_stats_fmax elements per partition, each into 6 elements of one tile, and bn_aggr on that tile
"""
