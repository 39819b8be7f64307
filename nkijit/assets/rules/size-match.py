import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.dma_copy(dst=out, src=tile[:, 0:256])
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.dma_copy(dst=out, src=tile)
    return out


FINDING = r"""
error[size-match]: nisa.dma_copy: different numbers of elements: 'src' has 32768, 'dst' has 65536
  --> size-match.py:11:32
    |
 11 |     nisa.dma_copy(dst=out, src=tile[:, 0:256])
    |                       ^^^      ^^^^^^^^^^^^^^
   = src: %tile, sbuf 128x256 float32, a view of %tile (sbuf 128x512 float32), allocated at size-match.py:10:12
   = dst: %out, shared_hbm 128x512 float32, allocated at size-match.py:9:11
   = help: slice the larger tensor to the size of the smaller
"""
