import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = {}
    for i in range(0, 512, 256):
        tiles[i] = nl.load(x[:, i : i + 256])
    for i in range(0, 512, 256):
        nl.store(out[:, i : i + 256], tiles[i])
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = [nl.load(x[:, i : i + 256]) for i in range(0, 512, 256)]
    for i in range(0, 512, 256):
        nl.store(out[:, i : i + 256], tiles[i // 256])
    return out


FINDING = r"""
warning[portable-dict-key]: kernel 'wrong': the key i is not a string
  --> portable-dict-key.py:11:15
    |
 11 |         tiles[i] = nl.load(x[:, i : i + 256])
    |               ^
   = help: use strings as keys, or a list
"""
