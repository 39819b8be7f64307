import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x32:bfloat16")
@nki.jit
def wrong(x):
    values = nl.ndarray((128, 4), dtype=nl.bfloat16, buffer=nl.shared_hbm)
    places = nl.ndarray((128, 4), dtype=nl.uint32, buffer=nl.shared_hbm)
    tile, val, idx = nl.load(x), nl.zeros((128, 4), nl.bfloat16), nl.zeros((128, 4), nl.uint32)
    nisa.topk(val_dst=val, idx_dst=idx, src=tile, n=512, sorted=True)
    nl.store(values, val)
    nl.store(places, idx)
    return values, places


@nki.example(x="128x32:bfloat16")
@nki.jit
def right(x):
    values = nl.ndarray((128, 4), dtype=nl.bfloat16, buffer=nl.shared_hbm)
    places = nl.ndarray((128, 4), dtype=nl.uint32, buffer=nl.shared_hbm)
    tile, val, idx = nl.load(x), nl.zeros((128, 4), nl.bfloat16), nl.zeros((128, 4), nl.uint32)
    nisa.topk(val_dst=val, idx_dst=idx, src=tile, n=512)
    nl.store(values, val)
    nl.store(places, idx)
    return values, places


FINDING = r"""
error[topk-order]: nisa.topk: 'sorted' is True
  --> topk-order.py:12:65
    |
 12 |     nisa.topk(val_dst=val, idx_dst=idx, src=tile, n=512, sorted=True)
    |                                                                 ^^^^
   = help: leave sorted= out, and sort the results afterwards, e.g. on the host
"""
