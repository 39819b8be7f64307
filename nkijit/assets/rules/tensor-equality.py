import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    if tile == 0:
        tile = nl.exp(tile)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    tile = nl.where(nl.equal(tile, 0.0), nl.exp(tile), tile)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[tensor-equality]: tensor 'tile': it is compared with 0, which is never equal
  --> tensor-equality.py:10:8
    |
 10 |     if tile == 0:
    |        ^^^^
   = help: compare the elements with nl.equal(t, 0); before comparing an argument that may be a number, ask isinstance(t, nl.NkiTensor)
"""
