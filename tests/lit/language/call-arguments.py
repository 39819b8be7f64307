# RUN: not nkijit verify %s:matmul -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=MATMUL %s
# RUN: not nkijit verify %s:activation -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=ACTIVATION %s
# RUN: not nkijit verify %s:into_a_tile -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=TILE %s
# RUN: not nkijit verify %s:masked -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=MASK %s
# RUN: not nkijit verify %s:scheduled -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=RANGE %s
# RUN: not nkijit verify %s:misspelt -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=MISSPELT %s
# RUN: not nkijit verify %s:renamed -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=RENAMED %s
# RUN: not nkijit verify %s:masked_store -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=STORE %s
# RUN: not nkijit verify %s:missing -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=MISSING %s
# RUN: not nkijit verify %s:surplus -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=SURPLUS %s
# RUN: not nkijit verify %s:twice -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=TWICE %s
# RUN: not nkijit verify %s:of_a_method -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=METHOD %s
# RUN: not nkijit verify %s:instruction -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=CURRENT %s
# RUN: not nkijit verify %s:in_order -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=ORDER %s
# RUN: not nkijit verify %s:filled -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=FILLED %s
# RUN: not nkijit verify %s:dimensions -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=DIMENSIONS %s
# RUN: not nkijit verify %s:dimensions_only -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=ONLY %s

# Calls whose arguments do not match the signature. If they match that of the other API, the finding names it.

import nkijit as nki
import nkijit.classic as classic
import nkijit.classic.isa as cisa
import nkijit.classic.language as cl
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def matmul(x):
    tile = nl.load(x)
    # MATMUL: error[call-arguments]: nisa.nc_matmul: argument 'dst' is missing; the call fits the classic API, where instructions return a new tile
    # MATMUL-NEXT: --> {{.*}}call-arguments.py:[[# @LINE + 6]]:12
    # MATMUL-NEXT: |
    # MATMUL-NEXT: [[# @LINE + 4]] | return nisa.nc_matmul(tile, tile[:, 0:32])
    # MATMUL-NEXT: | ^^^^^^^^^^^^^^
    # MATMUL-NEXT: = nisa.nc_matmul takes dst, stationary, moving, is_stationary_onezero, is_moving_onezero, is_transpose, accumulate, tile_position, tile_size, perf_mode, name
    # MATMUL-NEXT: = help: allocate a tile and write nisa.nc_matmul(dst=..., stationary=tile, moving=tile[:, 0:32]); for a kernel of the classic API, write import neuronxcc.nki as nki; nkijit migrate rewrites such a kernel
    return nisa.nc_matmul(tile, tile[:, 0:32])


@nki.jit
def activation(x):
    tile = nl.load(x)
    # ACTIVATION: error[call-arguments]: nisa.activation: argument 'dst' is missing; the call fits the classic API, where instructions return a new tile
    # ACTIVATION: = help: allocate a tile and write nisa.activation(dst=..., op=nl.exp, data=tile); for a kernel of the classic API, write import neuronxcc.nki as nki; nkijit migrate rewrites such a kernel
    return nisa.activation(op=nl.exp, data=tile)


# The variable that gets the result is a tile already.
@nki.jit
def into_a_tile(x):
    tile, out = nl.load(x), nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    # TILE: error[call-arguments]: nisa.tensor_tensor: argument 'dst' is missing; the call fits the classic API, where instructions return a new tile
    # TILE: = help: write nisa.tensor_tensor(dst=out[:, 0:64], data1=tile, data2=tile, op=nl.add); for a kernel of the classic API, write import neuronxcc.nki as nki; nkijit migrate rewrites such a kernel
    # TILE: 1 with a fix: nkijit verify --fix applies it where it helps
    out[:, 0:64] = nisa.tensor_tensor(tile, tile, op=nl.add)


@nki.jit
def masked(x):
    # MASK: error[call-arguments]: nl.load: there is no argument 'mask'; the call fits the classic API
    # MASK-NEXT: --> {{.*}}call-arguments.py:[[# @LINE + 7]]:23
    # MASK-NEXT: |
    # MASK-NEXT: [[# @LINE + 5]] | return nl.load(x, mask=None)
    # MASK-NEXT: | ^^^^^^^^^
    # MASK-NEXT: = nl.load takes src, dtype
    # MASK-NEXT: = help: leave out mask; for a kernel of the classic API, write import neuronxcc.nki as nki; nkijit migrate rewrites such a kernel

    return nl.load(x, mask=None)


# No signature has this argument.
@nki.jit
def scheduled(x):
    # RANGE: error[call-arguments]: nl.affine_range: there is no argument 'precise_schedule'
    # RANGE: = nl.affine_range takes start, stop, step
    # RANGE: = Python: affine_range() got an unexpected keyword argument 'precise_schedule'
    # RANGE: = help: write nl.affine_range(4)
    for _ in nl.affine_range(4, precise_schedule=True):
        nl.load(x)


@nki.jit
def misspelt(x):
    tile = nl.load(x)
    # MISSPELT: error[call-arguments]: nisa.tensor_copy: there is no argument 'source'; did you mean 'src'?
    # MISSPELT: = help: write nisa.tensor_copy(dst=tile, src=tile)
    nisa.tensor_copy(dst=tile, source=tile)


# The only keyword without a parameter is the only parameter without an argument.
@nki.jit
def renamed(x):
    # RENAMED: error[call-arguments]: nl.store: there is no argument 'tile'; argument 'value' is missing
    # RENAMED: = help: write nl.store(dst=x, value=nl.load(x))
    nl.store(dst=x, tile=nl.load(x))


# The classic API has this keyword.
@nki.jit
def masked_store(x):
    # STORE: error[call-arguments]: nl.store: there is no argument 'mask'; argument 'value' is missing
    # STORE: = help: write nl.store(x, value=...)
    nl.store(x, mask=None)


# The functional form of an operator.
@nki.jit
def missing(x):
    # MISSING: error[call-arguments]: nl.add: argument 'y' is missing
    # MISSING: = help: write nl.add(nl.load(x), y=...)
    return nl.add(nl.load(x))


@nki.jit
def surplus(x):
    tile = nl.load(x)
    # SURPLUS: error[call-arguments]: nisa.tensor_copy: it takes at most 4 arguments in order, the call has 6
    # SURPLUS: = help: pass each once, by name; nkijit explain nisa.tensor_copy describes them
    nisa.tensor_copy(tile, tile, nisa.engine.vector, "copied", 1, 2)


@nki.jit
def twice(x):
    tile = nl.load(x)
    # TWICE: error[call-arguments]: nisa.tensor_copy: argument 'dst' is passed twice; argument 'src' is missing
    # TWICE: = help: pass each once, by name; nkijit explain nisa.tensor_copy describes them
    nisa.tensor_copy(tile, dst=tile)


@nki.jit
def of_a_method(x):
    tile = nl.load(x)
    # METHOD: error[call-arguments]: tile.reshape: there is no argument 'shapes'; did you mean 'shape'?
    return tile.reshape(shapes=(128, 64))


@classic.jit
def instruction(x):
    tile = cl.load(x)
    # CURRENT: error[call-arguments]: nisa.activation: there is no argument 'dst'; the call fits the current API, where instructions write to 'dst'
    # CURRENT-NEXT: --> {{.*}}call-arguments.py:[[# @LINE + 6]]:21
    # CURRENT-NEXT: |
    # CURRENT-NEXT: [[# @LINE + 4]] | cisa.activation(dst=tile, op=cl.exp, data=tile)
    # CURRENT-NEXT: | ^^^^^^^^
    # CURRENT-NEXT: = nisa.activation takes op, data, bias, scale, reduce_op, reduce_res, reduce_cmd, mask, dtype
    # CURRENT-NEXT: = help: write tile[...] = cisa.activation(op=cl.exp, data=tile); for a kernel of the current API, write import nki
    cisa.activation(dst=tile, op=cl.exp, data=tile)


@classic.jit
def in_order(x):
    tile = cl.load(x)
    # ORDER: error[call-arguments]: nisa.nc_matmul: there is no argument 'dst'; the call fits the current API, where instructions write to 'dst'
    # ORDER: = help: write tile[0:64] = cisa.nc_matmul(stationary=tile, moving=tile); for a kernel of the current API, write import nki
    cisa.nc_matmul(tile[0:64], tile, tile)


@classic.jit
def filled(x):
    tile = cl.load(x)
    # FILLED: error[call-arguments]: nisa.memset: there is no argument 'dst'; arguments 'shape' and 'dtype' are missing; the call fits the current API, where instructions write to 'dst'
    # FILLED: = help: for a kernel of the current API, write import nki
    cisa.memset(tile, value=0.0)


@nki.jit
def dimensions(x):
    # DIMENSIONS: error[call-arguments]: nl.ndarray: argument 'dtype' is passed twice
    # DIMENSIONS: = help: write all dimensions of the shape as one tuple, e.g. (128, 512)
    nl.ndarray(128, 64, dtype=nl.float32, buffer=nl.sbuf)


@nki.jit
def dimensions_only(x):
    # ONLY: error[argument]: nl.zeros: 'shape': expected one tuple, got several numbers
    # ONLY: = help: write all dimensions of the shape as one tuple, e.g. (128, 512)
    nl.zeros(128, 64, nl.float32)
