import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    offset = nisa.register_alloc(600)
    nl.store(out[:, nl.ds(offset, 256)], nl.load(x[:, 0:256]))
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out[:, 256:512], nl.load(x[:, 256:512]))
    offset = nisa.register_alloc(0)
    nl.store(out[:, nl.ds(offset, 256)], nl.load(x[:, 0:256]))
    return out


FINDING = r"""
error[index-bounds]: nl.store: the index of 'dst' is 600, legal are 0 to 256
  --> index-bounds.py:12:14
    |
 12 |     nl.store(out[:, nl.ds(offset, 256)], nl.load(x[:, 0:256]))
    |              ^^^^^^^^^^^^^^^^^^^^^^^^^^
   = dst: %out, shared_hbm 128x256 float32, a view of %out (shared_hbm 128x512 float32), allocated at index-bounds.py:9:11
   = nl.store is implemented with nisa.dma_copy
   = help: change the bounds of the loop or the tensor's size, or pass oob_mode=nisa.oob_mode.skip
"""
