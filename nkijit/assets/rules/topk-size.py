import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x32:bfloat16")
@nki.jit
def wrong(x):
    values = nl.ndarray((128, 4), dtype=nl.bfloat16, buffer=nl.shared_hbm)
    places = nl.ndarray((128, 4), dtype=nl.uint32, buffer=nl.shared_hbm)
    tile, val, idx = nl.load(x), nl.zeros((128, 4), nl.bfloat16), nl.zeros((128, 4), nl.uint32)
    nisa.topk(val_dst=val, idx_dst=idx, src=tile, n=4096)
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
error[topk-size]: nisa.topk: 16 partitions of 'src' have 512 elements, 'n' is 4096
  --> topk-size.py:12:45
    |
 12 |     nisa.topk(val_dst=val, idx_dst=idx, src=tile, n=4096)
    |                                             ^^^^
   = src: %sbuf, sbuf 128x32 bfloat16, allocated at topk-size.py:11:22
   = help: pass n of at most 16 times the elements per partition of src, and a val_dst of at most n elements per partition
"""
