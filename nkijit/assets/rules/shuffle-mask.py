import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    swapped = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.nc_stream_shuffle(dst=swapped, src=tile, shuffle_mask=[1, 0])
    nl.store(out, swapped)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    swapped = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.nc_stream_shuffle(dst=swapped, src=tile, shuffle_mask=[i ^ 1 for i in range(32)])
    nl.store(out, swapped)
    return out


FINDING = r"""
error[shuffle-mask]: nisa.nc_stream_shuffle: 'shuffle_mask' has 2 entries, it must have 32
  --> shuffle-mask.py:12:64
    |
 12 |     nisa.nc_stream_shuffle(dst=swapped, src=tile, shuffle_mask=[1, 0])
    |                                                                ^^^^^^
   = help: give one source partition or 255 for each of the 32 partitions of a quadrant
"""
