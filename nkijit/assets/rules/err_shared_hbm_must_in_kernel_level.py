import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    for i in nl.affine_range(4):
        out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
        part = nl.ds(i * 128, 128)
        nl.store(out[:, part], nl.load(x[:, part]))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(4):
        part = nl.ds(i * 128, 128)
        nl.store(out[:, part], nl.load(x[:, part]))
    return out


FINDING = r"""
warning[err_shared_hbm_must_in_kernel_level]: nl.ndarray: 'out' is allocated in the loop at line 9
  --> err_shared_hbm_must_in_kernel_level.py:10:15
    |
 10 |         out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    |               ^^^^^^^^^^
   = help: move the line before the loop
"""
