import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def wrong():
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    position = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
    nisa.iota(dst=position, pattern=[[1, 512]], offset=0)
    nl.store(out, position)
    return out


@nki.jit
def right():
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    position = nl.ndarray((128, 512), dtype=nl.int32, buffer=nl.sbuf)
    nisa.iota(dst=position, pattern=[[1, 512]], offset=0)
    nl.store(out, position)
    return out


FINDING = r"""
warning[rounded-pattern]: nisa.iota: values reach 511, and bfloat16 holds integers exactly up to 256 only
  --> rounded-pattern.py:10:19
    |
 10 |     nisa.iota(dst=position, pattern=[[1, 512]], offset=0)
    |                   ^^^^^^^^
   = dst: %position, sbuf 128x512 bfloat16, allocated at rounded-pattern.py:9:16
   = help: generate the pattern as nl.int32, or as nl.float32 up to 2**24
"""
