import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    moved = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=moved, src=tile)
    nisa.nc_stream_shuffle(dst=moved[32:64], src=tile[0:64], shuffle_mask=[0] * 32)
    nl.store(out, moved)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    moved = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=moved, src=tile)
    nisa.nc_stream_shuffle(dst=moved[32:64], src=tile[0:32], shuffle_mask=[0] * 32)
    nl.store(out, moved)
    return out


FINDING = r"""
error[shuffle-start]: nisa.nc_stream_shuffle: 'dst' starts at partition 32; as many partitions as 'src' has, 64, start at 0 or 64
  --> shuffle-start.py:13:32
    |
 13 |     nisa.nc_stream_shuffle(dst=moved[32:64], src=tile[0:64], shuffle_mask=[0] * 32)
    |                                ^^^^^^^^^^^^      ^^^^^^^^^^
   = dst: %moved, sbuf 32x512 float32, a view of %moved (sbuf 128x512 float32), allocated at shuffle-start.py:11:13
   = src: %tile, sbuf 64x512 float32, a view of %tile (sbuf 128x512 float32), allocated at shuffle-start.py:10:12
   = help: move the slice to a legal first partition, or shuffle a quadrant at a time
"""
