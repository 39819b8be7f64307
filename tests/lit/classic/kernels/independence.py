# RUN: nkijit verify %s:iterations -a x=4x8x4:float32 2>&1 | filecheck --match-full-lines --check-prefix=ITERATIONS %s
# RUN: nkijit verify %s:carried -a x=4x8x4:float32 2>&1 | filecheck --check-prefix=CARRIED %s
# RUN: nkijit verify %s:sequential -a x=4x8x4:float32 2>&1 | filecheck --check-prefix=NONE %s
# RUN: nkijit verify %s:sums -a x=4x8x4:float32 2>&1 | filecheck --check-prefix=NONE %s
# RUN: nkijit verify %s:instances -a x=4x8x4:float32 2>&1 | filecheck --match-full-lines --check-prefix=INSTANCES %s
# RUN: nkijit verify %s:two_sums -a x=256x128:bfloat16 2>&1 | filecheck --match-full-lines --check-prefix=TWO %s

# Instances of a grid and iterations of affine_range are independent of each other.

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def iterations(x):
    # ITERATIONS: warning[err_unexpected_output_dependencies]: nl.load: two iterations write the same elements of 'tile'
    # ITERATIONS-NEXT: --> {{.*}}independence.py:[[# @LINE + 5]]:21
    # ITERATIONS: = help: index what is written with the program id or the loop variable, or use nl.sequential_range
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((8, 4), dtype=x.dtype)
    for i in nl.affine_range(4):
        tile[...] = nl.load(x[i])
        nl.store(out[i], tile)
    return out


@nki.jit
def carried(x):
    # CARRIED: warning[err_unexpected_output_dependencies]: nisa.tensor_tensor: one iteration reads elements of 'tile' that another one writes
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((8, 20), dtype=x.dtype)
    tile[:, 0:4] = nl.load(x[0])
    for i in nl.affine_range(4):
        last = tile[:, i * 4 : i * 4 + 4]
        tile[:, i * 4 + 4 : i * 4 + 8] = nisa.tensor_tensor(last, last, op=np.add)
    for i in nl.affine_range(4):
        nl.store(out[i], tile[:, i * 4 + 4 : i * 4 + 8])
    return out


@nki.jit
def sequential(x):
    # NONE-NOT: err_unexpected_output_dependencies
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((8, 4), dtype=x.dtype)
    for i in nl.sequential_range(4):
        tile[...] = nl.load(x[i])
        nl.store(out[i], tile)
    return out


@nki.jit
def sums(x):
    out = nl.ndarray((2, 8, 4), dtype=nl.float32, buffer=nl.shared_hbm)
    total = nl.zeros((8, 4), dtype=nl.float32)
    products = nl.zeros((4, 4), dtype=nl.float32, buffer=nl.psum)
    for i in nl.affine_range(4):
        tile = nl.load(x[i])
        total[...] = nisa.tensor_tensor(total, tile, op=np.add)
        products += nisa.nc_matmul(tile, tile)
    nl.store(out[0], total)
    nl.store(out[1, 0:4], products)
    nl.store(out[1, 4:8], products)
    return out


def same(x):
    # INSTANCES: warning[err_unexpected_output_dependencies]: nl.store: two instances write the same elements of 'out'
    # INSTANCES-NEXT: --> {{.*}}independence.py:[[# @LINE + 5]]:5
    # INSTANCES: warning[overwritten-result]: nl.store: 'out' is overwritten before anything reads the result: 3 of 4 results are lost
    # INSTANCES: 2 warnings{{.*}}
    out = nl.ndarray((8, 4), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x[nl.program_id(0)])
    nl.store(out, tile)
    return out


instances = nki.jit(same)[4]


@nki.jit
def two_sums(x):
    out = nl.ndarray((2, nl.par_dim(128), 128), dtype=nl.float32, buffer=nl.shared_hbm)
    total = nl.zeros((128, 128), dtype=nl.float32, buffer=nl.psum)
    for n in nl.affine_range(2):
        for k in nl.affine_range(2):
            part = nl.load(x[k * 128 : (k + 1) * 128])
            # TWO: warning[err_unexpected_output_dependencies]: nl.matmul: one iteration writes elements of 'total' that another one reads
            # TWO: = help: to begin a new sum in each iteration, allocate total with nl.zeros inside the loop; to continue the sum, use nl.sequential_range
            # TWO: warning[psum-open-read]: nl.matmul: adds to a result that has been read already
            # TWO: = help: read total after the last matmul of the sum; for a new sum allocate it again with nl.zeros, inside the loop that reads it
            total += nl.matmul(part, part, transpose_x=True)
        nl.store(out[n], value=nl.copy(total))
    return out
