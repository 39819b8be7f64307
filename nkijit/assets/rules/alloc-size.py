import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x131072:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, tile)
    return out


@nki.example(x="128x131072:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(0, 131072, 8192):
        nl.store(out[:, i : i + 8192], nl.load(x[:, i : i + 8192]))
    return out


FINDING = r"""
error[alloc-size]: nl.load: a partition of sbuf holds 245752 bytes on trn3, this tile needs 524288
  --> alloc-size.py:9:12
   |
 9 |     tile = nl.load(x)
   |            ^^^^^^^
   = result: %tile, sbuf 128x131072 float32, allocated at alloc-size.py:9:12
   = help: split the free dimension into tiles that fit, and loop over them
"""
