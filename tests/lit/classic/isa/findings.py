# RUN: not nkijit verify %s:reductions -a x=128x64:float32 -a words=128x64:int32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=REDUCTIONS %s
# RUN: not nkijit verify %s:activations -a x=128x64:float32 -t trn1 2>&1 | filecheck --match-full-lines --check-prefix=ACTIVATIONS %s
# RUN: not nkijit verify %s:others -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=OTHERS %s

# Mistakes that the IR can hold are found by the rules of the instructions, at the author's line.

import numpy as np

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl
from nkijit.language import bitwise_and


@nki.jit
def reductions(x, words):
    tile, integers = nl.load(x), nl.load(words)
    # REDUCTIONS: error[reducible]: nisa.tensor_reduce: nl.equal is not a reduction operator
    # REDUCTIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:5
    nisa.tensor_reduce(np.equal, tile, 1)
    # REDUCTIONS: error[bitvec-dtype]: nisa.tensor_reduce: 'data' must be of an integer type, it is float32
    # REDUCTIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:37
    nisa.tensor_reduce(bitwise_and, tile, 1)
    # REDUCTIONS: error[bitvec-dtype]: nisa.tensor_reduce: 'dst' must be of an integer type, it is float32
    # REDUCTIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:5
    nisa.tensor_reduce(bitwise_and, integers, 1, dtype=nl.float32)
    # REDUCTIONS: error[negate-arithmetic]: nisa.tensor_reduce: 'negate' is True, but nl.bitwise_and is a bitvec operator
    # REDUCTIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:57
    nisa.tensor_reduce(bitwise_and, integers, 1, negate=True)
    # REDUCTIONS: error[buffer]: nisa.tensor_reduce: 'data' must be in sbuf or psum, it is in private_hbm
    # REDUCTIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:32
    nisa.tensor_reduce(np.add, x, 1)
    # REDUCTIONS: error[reducible]: nisa.tensor_partition_reduce: nl.multiply does not reduce over partitions
    # REDUCTIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:5
    nisa.tensor_partition_reduce(np.multiply, tile)
    # REDUCTIONS: 6 errors for trn2 (--target)
    return x


@nki.jit
def activations(x):
    tile = nl.load(x)
    half = nl.full((128, 1), 1, dtype=nl.float16)
    row = nl.full((1, 128), 1, dtype=nl.float32)
    sums = nl.full((64, 1), 0, dtype=nl.float32)
    wide = nl.full((128, 2), 0, dtype=nl.float32)
    # ACTIVATIONS: error[activation-function]: nisa.activation: 'op' is nl.add, which is not an activation function
    # ACTIVATIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:21
    nisa.activation(np.add, tile)
    # ACTIVATIONS: error[dtype]: nisa.activation: 'scale' must be float32, it is float16
    # ACTIVATIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:41
    nisa.activation(np.exp, tile, scale=half)
    # ACTIVATIONS: error[column]: nisa.activation: 'scale' must have shape (128, 1), one element for each partition of 'data', it is 1x128
    # ACTIVATIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:41
    nisa.activation(np.exp, tile, scale=row)
    # ACTIVATIONS: error[column]: nisa.activation: 'scale' must have shape (128, 1), one element for each partition of 'data', it is 128x64
    # ACTIVATIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:41
    nisa.activation(np.exp, tile, scale=tile)
    # ACTIVATIONS: error[column]: nisa.activation: 'reduce_res' must have shape (128, 1), one element for each partition of 'data', it is 128x2
    # ACTIVATIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 3]]:46
    # ACTIVATIONS: error[reduce-cmd-needs-op]: nisa.activation: 'reduce_cmd' is reset_reduce, but 'reduce_op' is not given
    # ACTIVATIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:63
    nisa.activation(np.exp, tile, reduce_res=wide, reduce_cmd=nisa.reduce_cmd.reset_reduce)
    # ACTIVATIONS: error[column]: nisa.activation_reduce: 'reduce_res' must have shape (128, 1), one element for each partition of 'data', it is 128x2
    # ACTIVATIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 3]]:71
    # ACTIVATIONS: error[reduce-op]: nisa.activation_reduce: 'reduce_op' must be nl.add, it is nl.maximum
    # ACTIVATIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:52
    nisa.activation_reduce(np.exp, tile, reduce_op=np.max, reduce_res=wide)
    # ACTIVATIONS: error[column]: nisa.activation_reduce: 'reduce_res' must have shape (128, 1), one element for each partition of 'data', it is 64x1
    # ACTIVATIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:71
    nisa.activation_reduce(np.exp, tile, reduce_op=np.add, reduce_res=sums)
    # ACTIVATIONS: error[err_cannot_update_immutable_parameter]: nisa.activation_reduce: parameter 'x' is written
    # ACTIVATIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 5]]:5
    # ACTIVATIONS: error[buffer]: nisa.activation_reduce: 'reduce_res' must be in sbuf or psum, it is in private_hbm
    # ACTIVATIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 3]]:71
    # ACTIVATIONS: error[column]: nisa.activation_reduce: 'reduce_res' must have shape (128, 1), one element for each partition of 'data', it is 128x64
    # ACTIVATIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:71
    nisa.activation_reduce(np.exp, tile, reduce_op=np.add, reduce_res=x)
    # ACTIVATIONS: warning[no-effect]: nisa.activation: 'reduce_op' has no effect, as 'reduce_cmd' is idle
    # ACTIVATIONS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:56
    nisa.activation(np.exp, tile, scale=1.0, reduce_op=np.add, reduce_cmd=nisa.reduce_cmd.idle)
    # ACTIVATIONS: 12 errors and 1 warning for trn1 (--target)
    return x


@nki.jit
def others(x):
    tile = nl.load(x)
    one = nl.full((1, 64), 1, dtype=nl.float32)
    sums = nl.full((128, 64), 0, dtype=nl.float32, buffer=nl.psum)
    # OTHERS: error[partitions-match]: nisa.tensor_tensor: different numbers of partitions: 'data1' has 128, 'data2' has 1, 'dst' has 128
    # OTHERS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:24
    nisa.tensor_tensor(tile, one, np.add)
    # OTHERS: error[both-in-psum]: nisa.tensor_tensor: 'data1' and 'data2' are both in psum
    # OTHERS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:24
    nisa.tensor_tensor(sums, sums, np.add)
    # OTHERS: error[buffer]: nisa.tensor_tensor: 'data2' must be in sbuf or psum, it is in private_hbm
    # OTHERS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:30
    nisa.tensor_tensor(tile, x, np.add)
    # OTHERS: error[argument]: nisa.tensor_tensor: 'engine': expected a member of engine (unknown, tensor, scalar, gpsimd, dma, vector, sync), got 'vector' (str)
    # OTHERS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:51
    nisa.tensor_tensor(tile, tile, np.add, engine="vector")
    # OTHERS: error[argument]: nisa.tensor_copy: 'engine': expected a member of engine (unknown, tensor, scalar, gpsimd, dma, vector, sync), got 7 (int)
    # OTHERS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:35
    nisa.tensor_copy(tile, engine=7)
    # OTHERS: error[alloc-partitions]: nisa.nc_matmul: a tile in psum has at most 128 partitions, this one has 256
    # OTHERS-NEXT: --> {{.*}}findings.py:[[# @LINE + 3]]:5
    # OTHERS: error[matmul-tile]: nisa.nc_matmul: 'stationary' has 256 columns, at most 128 fit
    # OTHERS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:20
    nisa.nc_matmul(nl.full((128, 256), 1, dtype=nl.float32), tile)
    # OTHERS: error[alloc-partitions]: nisa.nc_transpose: a tile in psum has at most 128 partitions, this one has 256
    # OTHERS-NEXT: --> {{.*}}findings.py:[[# @LINE + 3]]:5
    # OTHERS: error[transpose-shape]: nisa.nc_transpose: the Tensor Engine transposes at most 128x128, 'data' is 128x256
    # OTHERS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:23
    nisa.nc_transpose(nl.full((128, 256), 1, dtype=nl.float32))
    # OTHERS: error[free-size-range]: nisa.max8: 'src' must have 8 to 16384 elements per partition, it has 4
    # OTHERS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:19
    nisa.max8(src=tile[:, 0:4])
    # OTHERS: error[buffer]: nisa.dma_copy: 'dst' must be in hbm or sbuf, it is in psum
    # OTHERS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:23
    nisa.dma_copy(dst=sums, src=tile)
    # OTHERS: error[dtype]: nisa.select_reduce: 'predicate' must be int8, uint8, int16, uint16 or bool_, it is float32
    # OTHERS-NEXT: --> {{.*}}findings.py:[[# @LINE + 1]]:44
    nisa.select_reduce(dst=sums, predicate=tile, on_true=tile, on_false=0.0)
    # OTHERS: 12 errors for trn2 (--target)
    return x
