# RUN: %python %S/../Inputs/verify_kernels.py %s -a x=128x512:float32 -t trn2 | filecheck --match-full-lines %s

# Operands with shapes, memories or data types that do not fit: the help depends on the mistake.

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def not_transposed(x):
    a = nl.load(x[0:64, 0:128])
    b = nl.load(x)
    c = nl.ndarray((64, 512), nl.float32, buffer=nl.psum)
    # CHECK: error[matmul-shape]: nisa.nc_matmul: the contraction runs over 64 partitions of 'stationary' and 128 of 'moving'
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 7]]:23
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 5]] |     nisa.nc_matmul(c, a, b)
    # CHECK-NEXT: |                       ^  ^
    # CHECK-NEXT: = stationary: %a, sbuf 64x128 float32, allocated at {{.*}}shapes.py:[[# @LINE - 8]]:9
    # CHECK-NEXT: = moving: %b, sbuf 128x512 float32, allocated at {{.*}}shapes.py:[[# @LINE - 8]]:9
    # CHECK-NEXT: = help: 'stationary' has the contracted dimension in its columns: transpose it first, nisa.nc_transpose of a to (128, 64), or load it with nisa.dma_transpose
    nisa.nc_matmul(c, a, b)


@nki.jit
def moving_transposed(x):
    a = nl.load(x[:, 0:64])
    b = nl.load(x[0:32, 0:128])
    c = nl.ndarray((64, 32), nl.float32, buffer=nl.psum)
    # CHECK: error[matmul-shape]: nisa.nc_matmul: the contraction runs over 128 partitions of 'stationary' and 32 of 'moving'
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:23
    # CHECK: = help: 'moving' has the contracted dimension in its columns: transpose it first, nisa.nc_transpose of b to (128, 32), or load it with nisa.dma_transpose
    nisa.nc_matmul(c, a, b)


@nki.jit
def fewer_rows(x):
    a = nl.load(x[:, 0:64])
    b = nl.load(x[0:32])
    c = nl.ndarray((64, 512), nl.float32, buffer=nl.psum)
    # CHECK: error[matmul-shape]: nisa.nc_matmul: the contraction runs over 128 partitions of 'stationary' and 32 of 'moving'
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:23
    # CHECK: = help: contract as many rows of both, a[0:32], or load tiles with the same rows of the contracted dimension
    nisa.nc_matmul(c, a, b)


@nki.jit
def exchanged_inputs(x):
    a = nl.load(x[:, 0:64])
    b = nl.load(x[:, 0:32])
    c = nl.ndarray((32, 64), nl.float32, buffer=nl.psum)
    # CHECK: error[matmul-shape]: nisa.nc_matmul: 'dst' must be (64, 32), it has 32 partitions and 64 elements per partition
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:20
    # CHECK: = help: 'dst' has the shape of the transposed product: exchange 'stationary' and 'moving', or allocate 'dst' as (64, 32)
    nisa.nc_matmul(c, a, b)


@nki.jit
def another_product(x):
    a = nl.load(x[:, 0:64])
    b = nl.load(x)
    c = nl.ndarray((128, 256), nl.float32, buffer=nl.psum)
    # CHECK: error[matmul-shape]: nisa.nc_matmul: 'dst' must be (64, 512), it has 128 partitions and 256 elements per partition
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:20
    # CHECK: = help: the rows of 'dst' are the columns of 'stationary': allocate 'dst' as nl.ndarray((64, 512), nl.float32, buffer=nl.psum)
    nisa.nc_matmul(c, a, b)


@nki.jit
def product_in_bfloat16(x):
    a = nl.load(x[:, 0:128], dtype=nl.bfloat16)
    b = nl.load(x, dtype=nl.bfloat16)
    c = nl.ndarray((128, 512), nl.bfloat16, buffer=nl.psum)
    # CHECK: error[matmul-dtype]: nisa.nc_matmul: 'dst' must be float32 on trn2, it is bfloat16
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 6]]:20
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 4]] |     nisa.nc_matmul(c, a, b)
    # CHECK-NEXT: |                    ^
    # CHECK-NEXT: = dst: %c, psum 128x512 bfloat16, allocated at {{.*}}shapes.py:[[# @LINE - 6]]:9
    # CHECK-NEXT: = help: allocate 'dst' as nl.float32, and convert it with nisa.tensor_copy into a tile of bfloat16 in SBUF
    nisa.nc_matmul(c, a, b)


@nki.jit
def product_of_two_types(x):
    a = nl.load(x[:, 0:128], dtype=nl.bfloat16)
    b = nl.load(x)
    c = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
    # CHECK: error[matmul-dtype]: nisa.nc_matmul: bfloat16 and float32 cannot be multiplied
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:23
    # CHECK: = help: copy b into a tile of bfloat16 with nisa.tensor_copy, or a into one of float32
    nisa.nc_matmul(c, a, b)


@nki.jit
def product_last(x):
    a = nl.load(x[:, 0:128])
    b = nl.load(x[:, 0:128])
    c = nl.ndarray((128, 128), nl.float32, buffer=nl.psum)
    nisa.nc_matmul(c, a, a)
    # CHECK: error[buffer]: nisa.nc_matmul: 'moving' must be in sbuf, it is in psum
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 5]]:26
    # CHECK: = help: the operands look exchanged: 'dst' comes first, probably c
    # CHECK: error[buffer]: nisa.nc_matmul: 'dst' must be in psum, it is in sbuf
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:20
    # CHECK: = help: write to a tile that is allocated with buffer=nl.psum, and copy it from there with nisa.tensor_copy
    nisa.nc_matmul(a, b, c)


@nki.jit
def transposed_right(x):
    # CHECK: error[matmul-shape]: nl.matmul: 'x' has 512 elements per partition to contract with the 128 partitions of 'y'
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:15
    # CHECK: = help: 'x' has the contracted dimension in its partitions: pass transpose_x=True
    nl.matmul(nl.load(x), nl.load(x), transpose_x=False)


@nki.jit
def transposed_twice(x):
    a = nl.load(x[0:64, 0:128])
    b = nl.load(x)
    # CHECK: error[matmul-shape]: nl.matmul: 'a' has 64 partitions to contract with the 128 partitions of 'b'
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:15
    # CHECK: = help: 'a' has the contracted dimension in its columns: leave transpose_x out
    nl.matmul(a, b, transpose_x=True)


@nki.jit
def right_transposed(x):
    a = nl.load(x[:, 0:64])
    b = nl.load(x[0:128, 0:64])
    # CHECK: error[matmul-shape]: nl.matmul: 'a' has 64 elements per partition to contract with the 32 partitions of 'b[0:32]'
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:15
    # CHECK: = help: 'b[0:32]' has the contracted dimension in its columns: transpose it with nl.transpose
    nl.matmul(a, b[0:32])


@nki.jit
def turned_in_place(x):
    a = nl.load(x[:, 0:64])
    c = nl.ndarray((128, 64), nl.float32, buffer=nl.psum)
    # CHECK: error[transpose-shape]: nisa.nc_transpose: the transpose of 128x64 is 64x128, 'dst' is 128x64
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:23
    # CHECK: = help: allocate 'dst' with the shape (64, 128)
    nisa.nc_transpose(c, a)


@nki.jit
def one_partition(x):
    t = nl.load(x)
    row = nl.load(x[0:1])
    # CHECK: error[partitions-match]: nisa.tensor_tensor: different numbers of partitions: 'data1' has 128, 'data2' has 1, 'dst' has 128
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:27
    # CHECK: = help: repeat the row in 128 partitions with nl.broadcast_to(row, shape=(128, 512))
    nisa.tensor_tensor(t, t, row, nl.add)


@nki.jit
def fewer_partitions(x):
    t = nl.load(x)
    half = nl.ndarray((64, 512), nl.float32, buffer=nl.sbuf)
    # CHECK: error[partitions-match]: nisa.tensor_copy: different numbers of partitions: 'src' has 128, 'dst' has 64
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:28
    # CHECK: = help: allocate 'dst' with 128 partitions, or read t[0:64] only
    nisa.tensor_copy(half, t)


@nki.jit
def copied_to_a_transpose(x):
    t = nl.load(x[:, 0:64])
    turned = nl.ndarray((64, 128), nl.float32, buffer=nl.sbuf)
    # CHECK: error[partitions-match]: nisa.tensor_copy: different numbers of partitions: 'src' has 128, 'dst' has 64
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 5]]:30
    # CHECK: = help: 'dst' has the shape of the transpose: transpose with nisa.nc_transpose, or allocate 'dst' with 128 partitions
    # CHECK: error[free-size-match]: nisa.tensor_copy: different numbers of elements per partition: 'src' has 64, 'dst' has 128
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:30
    # CHECK: = help: slice the larger one, turned[:, 0:64], or allocate 'dst' with 64 elements per partition
    nisa.tensor_copy(turned, t)


@nki.jit
def sum_in_one_partition(x):
    t = nl.load(x)
    total = nl.ndarray((1, 1), nl.float32, buffer=nl.sbuf)
    # CHECK: error[partitions-match]: nisa.tensor_reduce: different numbers of partitions: 'data' has 128, 'dst' has 1
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:39
    # CHECK: = help: each partition has its own result: allocate 'dst' with 128 partitions; nisa.tensor_partition_reduce combines partitions
    nisa.tensor_reduce(total, nl.add, t, axis=1)


@nki.jit
def three_numbers_of_partitions(x):
    t = nl.load(x)
    half = nl.load(x[0:64])
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    # CHECK: error[partitions-match]: nisa.tensor_tensor: different numbers of partitions: 'data1' has 128, 'data2' has 64, 'dst' has 128
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:29
    # CHECK: = help: slice to the same number of partitions: t[0:64], out[0:64]
    nisa.tensor_tensor(out, t, half, nl.add)


@nki.jit
def one_column(x):
    t = nl.load(x)
    column = nl.load(x[:, 0:1])
    # CHECK: error[free-size-match]: nisa.tensor_tensor: different numbers of elements per partition: 'data1' has 512, 'data2' has 1, 'dst' has 512
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:27
    # CHECK: = help: repeat the element in each partition, column.broadcast(1, 512), or pass column as operand0 of nisa.tensor_scalar
    nisa.tensor_tensor(t, t, column, nl.add)


@nki.jit
def fewer_columns(x):
    t = nl.load(x)
    narrow = nl.ndarray((128, 256), nl.float32, buffer=nl.sbuf)
    # CHECK: error[free-size-match]: nisa.tensor_copy: different numbers of elements per partition: 'src' has 512, 'dst' has 256
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:30
    # CHECK: = help: slice the larger one, t[:, 0:256], or allocate 'dst' with 512 elements per partition
    nisa.tensor_copy(narrow, t)


@nki.jit
def number_in_one_partition(x):
    t = nl.load(x)
    s = nl.load(x[0:1, 0:1])
    # CHECK: error[column]: nisa.tensor_scalar: 'operand0' must have shape (128, 1), one element for each partition of 'data', it is 1x1
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 7]]:43
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 5]] |     nisa.tensor_scalar(t, t, nl.multiply, s)
    # CHECK-NEXT: |                           ^               ^
    # CHECK-NEXT: = operand0: %s, sbuf 1x1 float32, allocated at {{.*}}shapes.py:[[# @LINE - 6]]:9
    # CHECK-NEXT: = data: %t, sbuf 128x512 float32, allocated at {{.*}}shapes.py:[[# @LINE - 8]]:9
    # CHECK-NEXT: = help: repeat the number in 128 partitions with nl.broadcast_to(s, shape=(128, 1)), or pass a number of Python
    nisa.tensor_scalar(t, t, nl.multiply, s)


@nki.jit
def scale_in_one_partition(x):
    t = nl.load(x)
    s = nl.load(x[0:1, 0:1])
    # CHECK: error[column]: nisa.activation: 'scale' must have shape (128, 1), one element for each partition of 'data', it is 1x1
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:41
    # CHECK: = help: repeat the number in 128 partitions with nl.broadcast_to(s, shape=(128, 1)), or pass a number of Python
    nisa.activation(t, nl.exp, t, scale=s)


@nki.jit
def row_of_numbers(x):
    t = nl.load(x)
    row = nl.load(x[0:1])
    # CHECK: error[column]: nisa.tensor_scalar: 'operand0' must have shape (128, 1), one element for each partition of 'data', it is 1x512
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:43
    # CHECK: = help: a row has an operand for each column: repeat it in 128 partitions with nl.broadcast_to(row, shape=(128, 512)), and use nisa.tensor_tensor
    nisa.tensor_scalar(t, t, nl.multiply, row)


@nki.jit
def many_columns(x):
    t = nl.load(x)
    u = nl.load(x)
    # CHECK: error[column]: nisa.tensor_scalar: 'operand0' must have shape (128, 1), one element for each partition of 'data', it is 128x512
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:43
    # CHECK: = help: pass one column, u[:, 0:1], or a number
    nisa.tensor_scalar(t, t, nl.multiply, u)


@nki.jit
def broadcast_of_others(x):
    t = nl.load(x)
    half = nl.load(x[0:64])
    # CHECK: error[argument]: nl.add: shapes that do not broadcast: 't' has (128, 512), 'half' has (64, 512)
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:12
    # CHECK: = help: each dimension has the same size or 1: slice dim 0 of 't', [0:64]
    nl.add(t, half)


@nki.jit
def broadcast_of_a_transpose(x):
    t = nl.load(x[:, 0:64])
    # CHECK: error[argument]: nl.add: shapes that do not broadcast: 't' has (128, 64), 'y' has (64, 128)
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:12
    # CHECK: = help: 'y' has the shape of the transpose: transpose it with nl.transpose
    nl.add(t, nl.transpose(t))


@nki.jit
def partition_axis(x):
    t = nl.load(x)
    # CHECK: error[reduce-axes]: nl.sum: 'axis' is [0]; legal for this tile are [1]
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 5]]:20
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 3]] |     nl.sum(t, axis=0)
    # CHECK-NEXT: |                    ^
    # CHECK-NEXT: = help: dim 0 is the partition dimension: add up partitions with nisa.nc_matmul, t as 'moving' and a (P, 1) tile of ones as 'stationary'; for other operators transpose first with nisa.nc_transpose, and reduce axis 1
    nl.sum(t, axis=0)


@nki.jit
def axis_beyond(x):
    t = nl.load(x)
    # CHECK: error[reduce-axes]: nl.sum: 'axis' is [2]; legal for this tile are [1]
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:20
    # CHECK: = help: t has 2 dimensions: write axis=1, or -1 for the last
    nl.sum(t, axis=2)


@nki.jit
def same_axis(x):
    t = nl.load(x)
    # CHECK: error[reduce-axes]: nl.sum: 'axis' is [1, 1]; legal for this tile are [1]
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:20
    # CHECK: = help: name each axis once: axis=1
    nl.sum(t, axis=(1, 1))


@nki.jit
def inner_axis(x):
    t = nl.load(x)
    # CHECK: error[reduce-axes]: nl.max: 'axis' is [1]; legal for this tile are [2], [1, 2]
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:43
    # CHECK: = help: let the reduced dimensions come last: t.permute((0, 2, 1)) with axis=2
    nl.max(t.reshape((128, 4, 128)), axis=1)


@nki.jit
def not_reduced(x):
    t = nl.load(x)
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    # CHECK: error[reduce-shape]: nisa.tensor_reduce: reducing axes [1] leaves 1 element per partition, 'dst' has 512
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:24
    # CHECK: = help: allocate 'dst' with the shape (128, 1)
    nisa.tensor_reduce(out, nl.add, t, axis=1)


@nki.jit
def not_loaded(x):
    # CHECK: error[buffer]: nl.exp: 'x' must be in sbuf or psum, it is in private_hbm
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 7]]:12
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 5]] |     nl.exp(x)
    # CHECK-NEXT: |            ^
    # CHECK-NEXT: = x: %x, private_hbm 128x512 float32, an argument of the kernel
    # CHECK-NEXT: = nl.exp is implemented with nisa.activation
    # CHECK-NEXT: = help: load it first, e.g. tile = nl.load(x), and pass the tile
    nl.exp(x)


@nki.jit
def stored_from_psum(x):
    a = nl.load(x[:, 0:128])
    c = nl.ndarray((128, 128), nl.float32, buffer=nl.psum)
    nisa.nc_matmul(c, a, a)
    # CHECK: error[buffer]: nl.store: 'value' must be in hbm or sbuf, it is in psum
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:27
    # CHECK: = help: copy c to a tile in SBUF first, with nisa.tensor_copy, and pass that
    nl.store(x[:, 0:128], c)


@nki.jit
def many_partitions(x):
    # CHECK: error[alloc-partitions]: nl.ndarray: a tile in sbuf has at most 128 partitions, this one has 256
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:5
    # CHECK: = help: loop over 2 tiles of 128 rows; or allocate (128, 2, 512), and let a tile have 2 rows in each partition
    nl.ndarray((256, 512), nl.float32, buffer=nl.sbuf)


@nki.jit
def row_of_partitions(x):
    # CHECK: error[alloc-partitions]: nl.ndarray: a tile in sbuf has at most 128 partitions, this one has 512
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:5
    # CHECK: = help: give a row of 512 elements the shape (1, 512), or (128, 4) in rows: dim 0 is partitions
    nl.ndarray((512,), nl.float32, buffer=nl.sbuf)


@nki.jit
def half_into_int8(x):
    t = nl.ndarray((128, 512), nl.int8, buffer=nl.sbuf)
    # CHECK: error[memset-dtype]: nisa.memset: 'dst' is int8, but 'value' is the float 0.5
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:17
    # CHECK: = help: write an integer, or allocate 'dst' as nl.float32 to hold 0.5
    nisa.memset(t, 0.5)


@nki.jit
def infinity_into_int8(x):
    t = nl.ndarray((128, 512), nl.int8, buffer=nl.sbuf)
    # CHECK: error[memset-dtype]: nisa.memset: 'dst' is int8, but 'value' is the float inf
    # CHECK-NEXT: --> {{.*}}shapes.py:[[# @LINE + 2]]:17
    # CHECK: = help: allocate 'dst' as nl.float32, or write the smallest or the largest integer
    nisa.memset(t, float("inf"))
