# RUN: %python %S/../Inputs/verify_kernels.py %s -a x=128x512:float32 | filecheck --match-full-lines %s

# Slices and indices that select no view: the help depends on the mistake.

import numpy as np

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def float_limit(x):
    n = x.shape[1]
    t = nl.load(x)
    # CHECK: error[view]: view of 't': limit of a slice is a float; the shape is (128, 512); legal: an integer
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 5]]:27
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 3]] |     nl.store(x[:, 0:256], t[:, 0 : n / 2])
    # CHECK-NEXT: |                           ^
    # CHECK-NEXT: = help: divide sizes with //, which gives ints; / gives floats
    nl.store(x[:, 0:256], t[:, 0 : n / 2])


@nki.jit
def float_index(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': index of dim 1 is a float; the shape is (128, 512); legal: an integer, a slice, `...` or nl.ds(start, size)
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:25
    # CHECK: = help: divide sizes with //, which gives ints; / gives floats
    nl.store(x[:, 0:1], t[:, x.shape[1] / 2])


@nki.jit
def float_size(x):
    # CHECK: error[view]: view of 'x': size of nl.ds is a float; the shape is (128, 512); legal: an integer
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:13
    # CHECK: = help: divide sizes with //, which gives ints; / gives floats
    nl.load(x[:, nl.ds(0, x.shape[1] / 2)])


@nki.jit
def even_list(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': index of dim 1 is a list; the shape is (128, 512); legal: an integer, a slice, `...` or nl.ds(start, size)
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:25
    # CHECK: = help: write the slice 0:5:2 in the place of the list
    nl.store(x[:, 0:3], t[:, [0, 2, 4]])


@nki.jit
def uneven_list(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': index of dim 1 is a list; the shape is (128, 512); legal: an integer, a slice, `...` or nl.ds(start, size)
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:25
    # CHECK: = help: copy one index after the other in a Python loop, or gather with nisa.nc_n_gather
    nl.store(x[:, 0:3], t[:, [0, 1, 4]])


@nki.jit
def array_of_rows(x):
    # CHECK: error[view]: view of 'x': index of dim 0 is a ndarray; the shape is (128, 512); legal: an integer, a slice, `...` or nl.ds(start, size)
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:13
    # CHECK: = help: load the numbers into an int32 tile with one number per partition, and write x.vector_select(0, numbers)
    nl.load(x[np.array([0, 7, 4])])


@nki.jit
def condition(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': index of dim 0 is a ndarray; the shape is (128, 512); legal: an integer, a slice, `...` or nl.ds(start, size)
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:17
    # CHECK: = help: to choose elements by a condition, write nl.where(condition, t, u)
    nl.store(x, t[np.arange(128) < 64])


@nki.jit
def new_dimension(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': index of dim 1 is a NoneType; the shape is (128, 512); legal: an integer, a slice, `...` or nl.ds(start, size)
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:17
    # CHECK: = help: insert a dimension of size 1 with t.expand_dim(1)
    nl.store(x, t[:, None, :])


@nki.jit
def text(x):
    # CHECK: error[view]: view of 'x': index of dim 1 is a str; the shape is (128, 512); legal: an integer, a slice, `...` or nl.ds(start, size)
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:13
    # CHECK: = help: pass an int, without quotes
    nl.load(x[:, "7"])


@nki.jit
def too_many(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': 3 indices; the shape is (128, 512); legal: at most 2 and at most one `...`
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:17
    # CHECK: = help: t has 2 dimensions: leave out 1 of the indices, or split a dimension first with t.reshape_dim(dim, sizes)
    nl.store(x, t[:, 0, 0])


@nki.jit
def two_ellipses(x):
    # CHECK: error[view]: view of 'x': 3 indices; the shape is (128, 512); legal: at most 2 and at most one `...`
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:13
    # CHECK: = help: write `...` once, and `:` for each other dimension
    nl.load(x[..., 0, ...])


@nki.jit
def backwards(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': slice ::-1 of dim 1 has step -1; the shape is (128, 512); legal: 0 <= start <= end <= 512, step >= 1
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:17
    # CHECK: = help: a pattern with a negative stride runs backwards: t.ap({{\[\[}}512, 128], [-1, 512]], offset=511)
    nl.store(x, t[:, ::-1])


@nki.jit
def backwards_by_two(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': slice 255::-2 of dim 1 has step -2; the shape is (128, 512); legal: 0 <= start <= end <= 512, step >= 1
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:27
    # CHECK: = help: a pattern with a negative stride runs backwards: t.ap({{\[\[}}512, 128], [-2, 128]], offset=255)
    nl.store(x[:, 0:128], t[:, 255::-2])


@nki.jit
def partitions_backwards(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': slice ::-1 of dim 0 has step -1; the shape is (128, 512); legal: 0 <= start <= end <= 128, step >= 1
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:17
    # CHECK: = help: partitions keep their order: load the rows backwards from HBM, one by one
    nl.store(x, t[::-1])


@nki.jit
def no_step(x):
    # CHECK: error[view]: view of 'x': slice ::0 of dim 1 has step 0; the shape is (128, 512); legal: 0 <= start <= end <= 512, step >= 1
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:13
    # CHECK: = help: pass a step of at least 1
    nl.load(x[:, ::0])


@nki.jit
def last_round(x):
    for i in range(3):
        # CHECK: error[view]: view of 'x': slice 400:600 of dim 1 runs past its size 512; the shape is (128, 512); legal: 0 <= start <= end <= 512, step >= 1
        # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:17
        # CHECK: = help: in the last round of a loop end at min(start + n, x.shape[1]), here 512
        nl.load(x[:, i * 200 : (i + 1) * 200])


@nki.jit
def round_too_many(x):
    for i in range(3):
        # CHECK: error[view]: view of 'x': slice 512:768 of dim 1 runs past its size 512; the shape is (128, 512); legal: 0 <= start <= end <= 512, step >= 1
        # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:17
        # CHECK: = help: x has 512 elements in dim 1: begin below 512, with fewer rounds
        nl.load(x[:, i * 256 : (i + 1) * 256])


@nki.jit
def too_many_partitions(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': slice 0:256 of dim 0 runs past its size 128; the shape is (128, 512); legal: 0 <= start <= end <= 128, step >= 1
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:17
    # CHECK: = help: t has 128 partitions: take other rows from the tensor in HBM, with a tile for every 128 rows
    nl.store(x, t[0:256])


@nki.jit
def last_window(x):
    # CHECK: error[view]: view of 'x': nl.ds(500, 20) of dim 1 is out of its size 512; the shape is (128, 512); legal: start >= 0, size >= 0, start + size <= 512
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:13
    # CHECK: = help: in the last round of a loop pass the size min(n, x.shape[1] - start), here 12
    nl.load(x[:, nl.ds(500, 20)])


@nki.jit
def negative_window(x):
    # CHECK: error[view]: view of 'x': nl.ds(-20, 20) of dim 1 is out of its size 512; the shape is (128, 512); legal: start >= 0, size >= 0, start + size <= 512
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:13
    # CHECK: = help: nl.ds counts from the start: write nl.ds(492, 20)
    nl.load(x[:, nl.ds(-20, 20)])


@nki.jit
def exchanged_limits(x):
    # CHECK: error[view]: view of 'x': slice 8:4 of dim 1 ends before it starts; the shape is (128, 512); legal: 0 <= start <= end <= 512, step >= 1
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:13
    # CHECK: = help: write the smaller limit first: 4:8
    nl.load(x[:, 8:4])


@nki.jit
def past_the_end(x):
    # CHECK: error[view]: view of 'x': index 512 of dim 1 is out of its size 512; the shape is (128, 512); legal: -512 to 511
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:13
    # CHECK: = help: x has 512 elements in dim 1: write 0 to 511, or -1 for the last
    nl.load(x[:, 512])


@nki.jit
def another_partition(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': index 128 of dim 0 is out of its size 128; the shape is (128, 512); legal: -128 to 127
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:17
    # CHECK: = help: t has 128 partitions: take other rows from the tensor in HBM, with a tile for every 128 rows
    nl.store(x, t[128, :])


@nki.jit
def negative_limit_of_the_method(x):
    # CHECK: error[view]: view of 'x': slice 0:-1 of dim 1 ends before it starts; the shape is (128, 512); legal: 0 <= start < end <= 512, step >= 1
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:13
    # CHECK: = help: only [] takes negative limits: write x.slice(1, 0, 511)
    nl.load(x.slice(1, 0, -1))


@nki.jit
def negative_index_of_the_method(x):
    # CHECK: error[view]: view of 'x': select -1 of dim 1 is out of its size 512; the shape is (128, 512); legal: 0 to 511
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:13
    # CHECK: = help: only [] takes negative indices: write x.select(1, 511)
    nl.load(x.select(1, -1))


@nki.jit
def no_such_dimension(x):
    # CHECK: error[view]: view of 'x': there is no dim 2; the shape is (128, 512); legal: -2 to 1
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:13
    # CHECK: = help: x has 2 dimensions: write 0 to 1, or -1 for the last
    nl.load(x.slice(2, 0, 1))


@nki.jit
def register_as_a_limit(x):
    r = nisa.register_alloc(3)
    # CHECK: error[view]: view of 'x': limit of a slice is a VirtualRegister; the shape is (128, 512); legal: an integer
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:13
    # CHECK: = help: write nl.ds(start, size) in the place of the slice: the start may be a register or a tile of one element, the size is an int
    nl.load(x[:, r:10])


@nki.jit
def partition_in_a_register(x):
    t, r = nl.load(x), nisa.register_alloc(3)
    # CHECK: error[view]: view of 'sbuf': the partition dimension is not addressed at run time
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:22
    # CHECK: = help: select the rows in HBM, e.g. nl.load(x[nl.ds(index, 1)])
    nl.store(x[0:1], t[r, :])


@nki.jit
def mask_as_an_index(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': the partition dimension is not addressed at run time
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:17
    # CHECK: = help: to choose elements by a condition or a mask, write nl.where(condition, t, u)
    nl.store(x, t[nl.greater(t, 0)])


@nki.jit
def two_registers(x):
    r = nisa.register_alloc(3)
    # CHECK: error[view]: view of 'x': two indices known at run time only; legal: one
    # CHECK-NEXT: --> {{.*}}views.py:[[# @LINE + 2]]:13
    # CHECK: = help: copy the part that one index selects to a tile of its own with nisa.dma_copy, and index that with the other
    nl.load(x[r, r])
