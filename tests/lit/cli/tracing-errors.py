# RUN: not nkijit verify %s:arguments -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=ARGUMENTS %s
# RUN: not nkijit verify %s:outside -a x=128x64:float32 2>&1 | filecheck --match-full-lines --check-prefix=OUTSIDE %s
# RUN: not nkijit verify %s:unsupported -a x=128x64:float32 2>&1 | filecheck --match-full-lines --check-prefix=REFUSED %s
# RUN: not nkijit verify %s:returns_a_tile -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=TILE %s
# RUN: not nkijit verify %s:returns_a_number -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=NUMBER %s
# RUN: nkijit trace %s:returns_a_tile -a x=128x64:float32 2> %t.stderr | filecheck --match-full-lines --check-prefix=TRACE %s
# RUN: filecheck --match-full-lines --check-prefix=TILE %s < %t.stderr

# Mistakes that IR cannot hold are found while a kernel is traced.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


# Values of the wrong kind: the instruction is omitted, and later ones are checked all the same.
@nki.jit
def arguments(x):
    tile = nl.load(x)
    # ARGUMENTS: error[argument]: nisa.reciprocal: 'data': expected a tile, got 3.0 (float)
    # ARGUMENTS-NEXT: --> {{.*}}tracing-errors.py:[[# @LINE + 5]]:36
    # ARGUMENTS-NEXT: |
    # ARGUMENTS-NEXT: [[# @LINE + 3]] | nisa.reciprocal(dst=tile, data=3.0)
    # ARGUMENTS-NEXT: | ^^^
    # ARGUMENTS-NEXT: = help: fill a tile with the number, e.g. nl.full(shape, value, dtype, buffer=nl.sbuf), or use what takes numbers: nisa.tensor_scalar, nl.add and its like
    nisa.reciprocal(dst=tile, data=3.0)
    # A word instead of the operator.
    # ARGUMENTS: error[argument]: nisa.activation: 'op': expected an operator of nki.language (nl.add, nl.gelu, nl.bypass, …), got 'exp' (str)
    # ARGUMENTS: = help: pass nl.exp, an object, not its name
    nisa.activation(dst=tile, op="exp", data=tile)
    # The member of another enumeration.
    # ARGUMENTS: error[argument]: nisa.tensor_copy: 'engine': expected a member of engine (unknown, tensor, scalar, gpsimd, dma, vector, sync), got <oob_mode.skip: 1> (oob_mode)
    nisa.tensor_copy(dst=tile, src=tile, engine=nisa.oob_mode.skip)
    # A number that an int32 cannot hold.
    # ARGUMENTS: error[argument]: nisa.iota: 'offset': expected an int32 or a register, got 4294967296 (int)
    nisa.iota(dst=tile, pattern=[[1, 64]], offset=2**32)
    # A mistake that IR can hold.
    # ARGUMENTS: error[activation-function]: nisa.activation: 'op' is nl.add, which is not an activation function
    nisa.activation(dst=tile, op=nl.add, data=tile)
    # ARGUMENTS: 5 errors for trn3 (default)


# A view that cannot exist ends the trace: nothing that follows makes sense.
@nki.jit
def outside(x):
    tile = nl.load(x)
    nisa.reciprocal(dst=tile, data=3.0)
    # OUTSIDE: error[argument]: nisa.reciprocal: 'data': expected a tile, got 3.0 (float)
    # OUTSIDE: error[view]: view of 'tile': slice 0:100 of dim 1 runs past its size 64; the shape is (128, 64); legal: 0 <= start <= end <= 64, step >= 1
    # OUTSIDE-NEXT: --> {{.*}}tracing-errors.py:[[# @LINE + 5]]:12
    # OUTSIDE-NEXT: |
    # OUTSIDE-NEXT: [[# @LINE + 3]] | part = tile[:, 0:100]
    # OUTSIDE-NEXT: | ^^^^
    # OUTSIDE-NEXT: = help: in the last round of a loop end at min(start + n, tile.shape[1]), here 64
    part = tile[:, 0:100]
    nisa.reciprocal(dst=part, data=4.0)
    # OUTSIDE: 2 errors for trn3 (default)


# Features that are not modelled are refused by name.
@nki.jit
def unsupported(x):
    tile = nl.load(x)
    # REFUSED: error[unsupported]: tensor 'tile': the values of a tensor are not known while a kernel is traced
    # REFUSED-NEXT: --> {{.*}}tracing-errors.py:[[# @LINE + 5]]:{{5|11}}
    # REFUSED-NEXT: |
    # REFUSED-NEXT: [[# @LINE + 3]] | while tile:
    # REFUSED-NEXT: | ^^^^{{.*}}
    # REFUSED-NEXT: = help: decide on shapes, dtypes and other arguments, or compute with instructions
    while tile:
        pass
    # REFUSED: 1 error for trn3 (default)


# A result on chip would be lost. The rest of the kernel is traced and can be printed.
# TILE: error[return-value]: kernel 'returns_a_tile': the result is tensor 'tile' in sbuf
# TILE-NEXT: --> {{.*}}tracing-errors.py:[[# @LINE + 9]]:12
# TILE-NEXT: |
# TILE-NEXT: [[# @LINE + 7]] | return tile
# TILE-NEXT: |        ^^^^
# TILE-NEXT: = the result: %tile, sbuf 128x64 float32, allocated at {{.*}}tracing-errors.py:[[# @LINE + 4]]:12
# TILE-NEXT: = help: write out = nl.ndarray((128, 64), nl.float32, buffer=nl.shared_hbm), copy the tile to it with nl.store, and return out
@nki.jit
def returns_a_tile(x):
    tile = nl.load(x)
    return tile


# TILE: 1 error{{( for trn3 \(default\))?}}

# TRACE: nki.kernel @returns_a_tile(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
# TRACE: nisa.dma_copy dst=%tile, src=%x
# TRACE: nki.return


# One of the two results is no tensor.
# NUMBER: error[return-value]: kernel 'returns_a_number': result 1 is not a tensor but 7 (int)
# NUMBER: 1 error for trn3 (default)
@nki.jit
def returns_a_number(x):
    return x, 7
