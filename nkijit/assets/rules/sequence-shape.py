import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(ids="1x512:int32")
@nki.jit
def wrong(ids):
    out = nl.ndarray((2, 512), dtype=nl.int32, buffer=nl.shared_hbm)
    bounds = nl.ndarray((2, 512), dtype=nl.int32, buffer=nl.sbuf)
    nisa.sequence_bounds(dst=bounds, segment_ids=nl.load(ids))
    nl.store(out, bounds)
    return out


@nki.example(ids="1x512:int32")
@nki.jit
def right(ids):
    out = nl.ndarray((1, 2, 512), dtype=nl.int32, buffer=nl.shared_hbm)
    bounds = nl.ndarray((1, 2, 512), dtype=nl.int32, buffer=nl.sbuf)
    nisa.sequence_bounds(dst=bounds, segment_ids=nl.load(ids))
    nl.store(out, bounds)
    return out


FINDING = r"""
error[sequence-shape]: nisa.sequence_bounds: 'dst' must be (1, 2, 512), it has 2 partitions and 512 elements per partition
  --> sequence-shape.py:11:30
    |
 11 |     nisa.sequence_bounds(dst=bounds, segment_ids=nl.load(ids))
    |                              ^^^^^^              ^^^^^^^^^^^^
   = dst: %bounds, sbuf 2x512 int32, allocated at sequence-shape.py:10:14
   = segment_ids: %sbuf, sbuf 1x512 int32, allocated at sequence-shape.py:11:50
   = help: lay the operands out as segment_ids (1, n), dst (1, 2, n)
"""
