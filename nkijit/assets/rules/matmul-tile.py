import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x1024:bfloat16")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 1024), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, nl.copy(nl.matmul(tile[:, 0:128], tile, transpose_x=True)))
    return out


@nki.example(x="128x1024:bfloat16")
@nki.jit
def right(x):
    out = nl.ndarray((128, 1024), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    for i in range(0, 1024, 512):
        part = nl.matmul(tile[:, 0:128], tile[:, i : i + 512], transpose_x=True)
        nl.store(out[:, i : i + 512], nl.copy(part))
    return out


FINDING = r"""
error[matmul-tile]: nl.matmul: 'tile' has 1024 columns, at most 512 are possible
  --> matmul-tile.py:10:53
    |
 10 |     nl.store(out, nl.copy(nl.matmul(tile[:, 0:128], tile, transpose_x=True)))
    |                                                     ^^^^
   = help: loop over blocks of at most nl.tile_size.pmax rows, nl.tile_size.gemm_stationary_fmax and nl.tile_size.gemm_moving_fmax columns; matmuls over blocks of rows accumulate in one PSUM tile
"""
