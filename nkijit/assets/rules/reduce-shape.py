import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=1)
    nl.store(out, total[:, 0:1])
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=1)
    nl.store(out, total)
    return out


FINDING = r"""
error[reduce-shape]: nisa.tensor_reduce: reducing axes [1] leaves 1 element per partition, 'dst' has 512
  --> reduce-shape.py:12:28
    |
 12 |     nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=1)
    |                            ^^^^^                  ^^^^
   = dst: %total, sbuf 128x512 float32, allocated at reduce-shape.py:11:13
   = data: %tile, sbuf 128x512 float32, allocated at reduce-shape.py:10:12
   = help: allocate 'dst' with the shape (128, 1)
"""
