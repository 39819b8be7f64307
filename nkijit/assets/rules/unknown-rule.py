import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)  # nkijit: ignore[dead-stores]
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[unknown-rule]: ignore[dead-stores]: there is no rule 'dead-stores'; did you mean 'dead-store'?
  --> unknown-rule.py:9:26
   |
 9 |     tile = nl.load(x)  # nkijit: ignore[dead-stores]
   |                          ^^^^^^
   = help: name rules by the ids that findings show in brackets, e.g. # nkijit: ignore[dead-store]
"""
