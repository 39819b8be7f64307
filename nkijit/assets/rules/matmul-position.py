import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(a="64x64:bfloat16", b="64x512:bfloat16")
@nki.jit
def wrong(a, b):
    out = nl.ndarray((64, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left, right = nl.load(a), nl.load(b)
    product = nl.ndarray((64, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=product, stationary=left, moving=right, tile_position=(64, 64))
    nl.store(out, nl.copy(product))
    return out


@nki.example(a="64x64:bfloat16", b="64x512:bfloat16")
@nki.jit
def right(a, b):
    out = nl.ndarray((64, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left, right = nl.load(a), nl.load(b)
    product = nl.ndarray((64, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(
        dst=product, stationary=left, moving=right, tile_position=(0, 64), tile_size=(64, 64)
    )
    nl.store(out, nl.copy(product))
    return out


FINDING = r"""
error[matmul-position]: nisa.nc_matmul: 'tile_position' and 'tile_size' are given together, two numbers each; they are (64, 64) and ()
  --> matmul-position.py:12:78
    |
 12 |     nisa.nc_matmul(dst=product, stationary=left, moving=right, tile_position=(64, 64))
    |                                                                              ^^^^^^^^
   = help: pass both, with sizes of 32 (NeuronCore-v3 and newer), 64 or 128 at multiples of them, e.g. tile_position=(0, 64), tile_size=(64, 64); or leave both out
"""
