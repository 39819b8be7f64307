import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    blocks = nl.zeros((4, nl.par_dim(128), 512), dtype=x.dtype)
    nl.store(out, nl.add(blocks, 1.0))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    blocks = nl.zeros((4, nl.par_dim(128), 512), dtype=x.dtype)
    nl.store(out, nl.add(blocks[0], nl.load(x)))
    return out


FINDING = r"""
error[err_failed_to_infer_tile_from_local_tensor]: tensor 'blocks': it has block dimensions (4,) in front of the partition dimension
  --> err_failed_to_infer_tile_from_local_tensor.py:11:19
    |
 11 |     nl.store(out, nl.add(blocks, 1.0))
    |                   ^^^^^^
   = help: index the block dimensions with integers
"""
