import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, tile[:, 0:600])
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, tile[:, 0:512])
    return out


FINDING = r"""
error[view]: view of 'tile': slice 0:600 of dim 1 runs past its size 512; the shape is (128, 512); legal: 0 <= start <= end <= 512, step >= 1
  --> view.py:10:19
    |
 10 |     nl.store(out, tile[:, 0:600])
    |                   ^^^^
   = help: in the last round of a loop end at min(start + n, tile.shape[1]), here 512
"""
