import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 8), dtype=nl.uint32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    largest = nl.ndarray((128, 8), dtype=nl.bfloat16, buffer=nl.sbuf)
    indices = nl.ndarray((128, 8), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.max8(dst=largest, src=tile)
    nisa.nc_find_index8(dst=indices, data=tile, vals=largest)
    nl.store(out, indices)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 8), dtype=nl.uint32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    largest = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    indices = nl.ndarray((128, 8), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.max8(dst=largest, src=tile)
    nisa.nc_find_index8(dst=indices, data=tile, vals=largest)
    nl.store(out, indices)
    return out


FINDING = r"""
warning[rounded-search]: nisa.nc_find_index8: 'vals' is bfloat16, and 'data' float32: rounded values are not found
  --> rounded-search.py:14:54
    |
 14 |     nisa.nc_find_index8(dst=indices, data=tile, vals=largest)
    |                                           ^^^^       ^^^^^^^
   = vals: %largest, sbuf 128x8 bfloat16, allocated at rounded-search.py:11:15
   = data: %tile, sbuf 128x512 float32, allocated at rounded-search.py:10:12
   = help: allocate the tile of 'vals' as nl.float32
"""
