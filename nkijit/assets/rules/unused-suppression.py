import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)  # nkijit: ignore[dead-store]
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
warning[unused-suppression]: ignore[dead-store]: no warning of this rule is reported here
  --> unused-suppression.py:9:26
   |
 9 |     tile = nl.load(x)  # nkijit: ignore[dead-store]
   |                          ^^^^^^
   = help: remove the rule from the comment, or put the comment on the statement's own lines
"""
