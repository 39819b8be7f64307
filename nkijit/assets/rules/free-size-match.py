import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    other = nl.load(x[:, 0:256])
    nisa.tensor_tensor(dst=tile, data1=tile, data2=other, op=nl.add)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    other = nl.load(x[:, 0:256])
    nisa.tensor_tensor(dst=tile[:, 0:256], data1=tile[:, 0:256], data2=other, op=nl.add)
    nl.store(out, tile)
    return out


FINDING = r"""
error[free-size-match]: nisa.tensor_tensor: different numbers of elements per partition: 'data1' has 512, 'data2' has 256, 'dst' has 512
  --> free-size-match.py:12:40
    |
 12 |     nisa.tensor_tensor(dst=tile, data1=tile, data2=other, op=nl.add)
    |                            ^^^^        ^^^^        ^^^^^
   = data1: %tile, sbuf 128x512 float32, allocated at free-size-match.py:10:12
   = data2: %other, sbuf 128x256 float32, allocated at free-size-match.py:11:13
   = dst: %tile, sbuf 128x512 float32, allocated at free-size-match.py:10:12
   = help: slice, reshape or broadcast the tiles to the same number of elements per partition
"""
