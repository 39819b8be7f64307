# RUN: nkijit verify %s:strictly_below -a x=128x64:float32 -a step=1 -a first=0 | filecheck %s --check-prefix=BELOW
# RUN: nkijit verify %s:strictly_below -a x=128x64:float32 -a step=1 -a first=-1 | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:strictly_below -a x=128x64:float32 -a step=-1 -a first=62 | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:strictly_below -a x=128x64:float32 -a step=-1 -a first=63 | filecheck %s --check-prefix=STEPS
# RUN: nkijit verify %s:blocks -a x=256x128:float32 -a first=0 | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:blocks -a x=256x128:float32 -a first=1 | filecheck %s --check-prefix=BLOCKS
# RUN: nkijit verify %s:searched -a x=128x64:float32 -a values=nl.float16 | filecheck %s --check-prefix=SEARCH
# RUN: nkijit verify %s:searched -a x=128x64:bfloat16 -a values=nl.float32 | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:searched -a x=128x64:bfloat16 -a values=nl.float16 | filecheck %s --check-prefix=RANGE

# Selections whose predicate is false everywhere, and searches for rounded values.

import nki
import nki.isa as nisa
import nki.language as nl

# NONE-NOT: {{false-predicate|rounded-search}}


@nki.jit
def strictly_below(x, step, first):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    # BELOW: warning[false-predicate]: nisa.affine_select: the predicate is false for all elements: its values are 0 to 63, compared with 0 by nl.less, so 'dst' gets 'on_false_value' only
    # STEPS: its values are 0 to 63, compared with 0 by nl.less
    nisa.affine_select(tile, [[step, 64]], 0, tile, 0.0, cmp_op=nl.less, offset=first)
    nl.store(out, tile)
    # NONE: for trn3 (default)
    return out


# The line is of use for one of two blocks, or for none.
@nki.jit
def blocks(x, first):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for block in range(2):
        tile = nl.load(x[block * 128 : (block + 1) * 128])
        # BLOCKS: its values are 1, compared with 0 by nl.equal
        nisa.affine_select(tile, [[0, 128]], 0, tile, 0.0, cmp_op=nl.equal, offset=block + first)
        nl.store(out[block * 128 : (block + 1) * 128], tile)
    return out


@nki.jit
def searched(x, values):
    out = nl.ndarray((128, 8), nl.uint32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    largest = nl.ndarray((128, 8), values, buffer=nl.sbuf)
    indices = nl.ndarray((128, 8), nl.uint32, buffer=nl.sbuf)
    nisa.max8(largest, tile)
    # SEARCH: warning[rounded-search]: nisa.nc_find_index8: 'vals' is float16, and 'data' float32: rounded values are not found
    # SEARCH: = help: allocate the tile of 'vals' as nl.float32
    # RANGE: 'vals' is float16, and 'data' bfloat16: rounded values are not found
    nisa.nc_find_index8(indices, tile, largest)
    nl.store(out, indices)
    return out
