import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((1, 512), dtype=nl.int32, buffer=nl.shared_hbm)
    found = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.sbuf)
    nisa.nonzero_with_count(dst=found, src=nl.load(x))
    nl.store(out, found[0:1])
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((1, 513), dtype=nl.int32, buffer=nl.shared_hbm)
    found = nl.ndarray((128, 513), dtype=nl.int32, buffer=nl.sbuf)
    nisa.nonzero_with_count(dst=found, src=nl.load(x))
    nl.store(out, found[0:1])
    return out


FINDING = r"""
error[count-slot]: nisa.nonzero_with_count: 'dst' must have 513 elements per partition, one more than 'src', it has 512
  --> count-slot.py:11:33
    |
 11 |     nisa.nonzero_with_count(dst=found, src=nl.load(x))
    |                                 ^^^^^      ^^^^^^^^^^
   = dst: %found, sbuf 128x512 int32, allocated at count-slot.py:10:13
   = src: %sbuf, sbuf 128x512 float32, allocated at count-slot.py:11:44
   = help: allocate dst with one more element per partition than src, for the count
"""
