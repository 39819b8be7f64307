import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    largest = nl.max(tile[0:1], axis=1)
    while largest > 1.0:
        tile = nl.multiply(tile, 0.5)
        largest = nl.multiply(largest, 0.5)
    nl.store(out, tile)
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    for _ in range(4):
        tile[...] = nl.where(tile > 1.0, nl.multiply(tile, 0.5), tile)
    nl.store(out, tile)
    return out


FINDING = r"""
error[err_dynamic_control_flow_not_supported]: largest > 1.0: the values of a tensor are not known while a kernel is traced
  --> err_dynamic_control_flow_not_supported.py:12:11
    |
 12 |     while largest > 1.0:
    |           ^^^^^^^
   = help: decide on shapes, dtypes and other arguments, or compute both with nl.where
"""
