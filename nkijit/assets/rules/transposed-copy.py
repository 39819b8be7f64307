import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    turned = nl.ndarray((512, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(turned, nl.load(x))
    return turned


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    turned = nl.ndarray((512, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(0, 512, 128):
        part = nl.copy(nl.transpose(nl.load(x[:, i : i + 128])))
        nl.store(turned[i : i + 128], part)
    return turned


FINDING = r"""
warning[transposed-copy]: nl.store: 'dst' has shape (512, 128) and 'src' (128, 512): the elements are copied in row-major order, not transposed
  --> transposed-copy.py:9:14
   |
 9 |     nl.store(turned, nl.load(x))
   |              ^^^^^^
   = dst: %turned, shared_hbm 512x128 float32, allocated at transposed-copy.py:8:14
   = src: %sbuf, sbuf 128x512 float32, allocated at transposed-copy.py:9:22
   = nl.store is implemented with nisa.dma_copy
   = help: permute one side first (on chip with permute or nisa.nc_transpose, from HBM with nisa.dma_transpose); if row-major order is meant, reshape one side to the shape of the other
"""
