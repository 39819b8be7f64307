# RUN: %python %S/../Inputs/verify_kernels.py %s -a x=128x512:float32 | filecheck --match-full-lines %s

# Shapes and patterns that a view cannot have: the help depends on the mistake.

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def another_size(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': reshape to (128, 4, 100); the shape is (128, 512); legal: sizes of at least 1 whose product is 65536, one of them may be -1
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 5]]:17
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 3]] |     nl.store(x, t.reshape((128, 4, 100)))
    # CHECK-NEXT: |                 ^^^^^^^^^
    # CHECK-NEXT: = help: write sizes whose product is 65536, e.g. (128, 4, 128)
    nl.store(x, t.reshape((128, 4, 100)))


@nki.jit
def float_size(x):
    # CHECK: error[view]: view of 'x': size is a float; the shape is (128, 512); legal: an integer
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: divide sizes with //, which gives ints; / gives floats
    nl.load(x.reshape((128, 4, x.shape[1] / 4)))


@nki.jit
def two_unknown_sizes(x):
    # CHECK: error[view]: view of 'x': reshape to (128, -1, -1); the shape is (128, 512); legal: sizes of at least 1 whose product is 65536, one of them may be -1
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: write -1 for one size at most
    nl.load(x.reshape((128, -1, -1)))


@nki.jit
def other_partitions(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': reshape to (64, 1024) changes the partition dimension; the shape is (128, 512); legal: (128, …) with two dimensions or more, in SBUF and PSUM
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:17
    # CHECK: = help: change the shape in HBM and load that, e.g. nl.load(x.reshape(shape)): on chip the rows of a tile stay in their partitions
    nl.store(x, t.reshape((64, 1024)))


@nki.jit
def merged_after_a_permutation(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': reshape to (128, 512) needs a copy; the shape is (128, 256, 2); legal: merging dimensions only where stride[k] == stride[k+1] * shape[k+1], the strides are (512, 1, 256)
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:17
    # CHECK: = help: copy the elements to a tile of their own first, with nisa.tensor_copy (in HBM nisa.dma_copy), and change the shape of that
    nl.store(x, t.reshape((128, 2, 256)).permute((0, 2, 1)).reshape((128, 512)))


@nki.jit
def permuted_partitions(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': permute to (1, 0) moves the partition dimension; the shape is (128, 512); legal: 0 first, in SBUF and PSUM
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:17
    # CHECK: = help: to exchange partitions and columns, transpose: nisa.nc_transpose on chip, nisa.dma_transpose from HBM
    nl.store(x, t.permute((1, 0)))


@nki.jit
def no_permutation(x):
    # CHECK: error[view]: view of 'x': permute to (0, 0) is no permutation; the shape is (128, 512); legal: each of 0 to 1 once
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: name each dimension once: x has dimensions 0, 1
    nl.load(x.permute((0, 0)))


@nki.jit
def broadcast_partitions(x):
    row = nl.load(x[0:1])
    # CHECK: error[view]: view of 'row': broadcast of the partition dimension; the shape is (1, 512); legal: the other dimensions, in SBUF and PSUM dim 0 is the partition dimension
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:17
    # CHECK: = help: repeat the row while loading it, e.g. nl.load(x[0:1].broadcast(0, 128)), or on chip with nl.broadcast_to(row, (128, n))
    nl.store(x, row.broadcast(0, 128))


@nki.jit
def broadcast_of_many(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': broadcast of dim 1 to 256; the shape is (128, 512); legal: a dimension of size 1, and a new size of at least 1
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:17
    # CHECK: = help: repeat one element of the dimension, t[:, 0:1].broadcast(1, 256)
    nl.store(x, t.broadcast(1, 256))


@nki.jit
def dimension_before_partitions(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': expand_dim before the partition dimension; the shape is (128, 512); legal: the other dimensions, in SBUF and PSUM dim 0 is the partition dimension
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:17
    # CHECK: = help: write t.expand_dim(1): on chip dim 0 stays the partition dimension
    nl.store(x, t.expand_dim(0))


@nki.jit
def dimension_beyond(x):
    # CHECK: error[view]: view of 'x': expand_dim at 5; the shape is (128, 512); legal: -3 to 2
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: write x.expand_dim(2) for a dimension at the end
    nl.load(x.expand_dim(5))


@nki.jit
def squeezed_elements(x):
    # CHECK: error[view]: view of 'x': squeeze_dim of dim 1, whose size is 512; the shape is (128, 512); legal: a dimension of size 1
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: take one element of the dimension, x.select(1, 0), or keep the dimension
    nl.load(x.squeeze_dim(1))


@nki.jit
def split_partitions(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': reshape_dim to (2, 64) splits the partition dimension; the shape is (128, 512); legal: the other dimensions, in SBUF and PSUM dim 0 is the partition dimension
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:17
    # CHECK: = help: change the shape in HBM and load that, e.g. nl.load(x.reshape(shape)): on chip the rows of a tile stay in their partitions
    nl.store(x, t.reshape_dim(0, (2, 64)))


@nki.jit
def merged_partitions(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': flatten_dims of 0 to 1 merges the partition dimension; the shape is (128, 512); legal: the other dimensions, in SBUF and PSUM dim 0 is the partition dimension
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:17
    # CHECK: = help: change the shape in HBM and load that, e.g. nl.load(x.reshape(shape)): on chip the rows of a tile stay in their partitions
    nl.store(x, t.flatten_dims(0, 1))


@nki.jit
def exchanged_dimensions(x):
    # CHECK: error[view]: view of 'x': flatten_dims of 1 to 0; the shape is (128, 512); legal: start_dim <= end_dim
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: write x.flatten_dims(0, 1)
    nl.load(x.flatten_dims(1, 0))


@nki.jit
def names_as_text(x):
    # CHECK: error[view]: view of 'x': rearrange with 'p (a b) -> p b a'; the shape is (128, 512); legal: a tuple of names and tuples of names
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: write tuples: x.rearrange(('p', ('a', 'b')), ('p', 'b', 'a'), {name: size})
    nl.load(x.rearrange("p (a b) -> p b a", {"a": 2}))


@nki.jit
def size_of_no_part(x):
    # CHECK: error[view]: view of 'x': rearrange of ('a', 'b') to [-1, -1]; the shape is (128, 512); legal: sizes of at least 1 whose product is 512, one of them may be -1
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: give the sizes of all parts but one: fixed_sizes={'a': size}
    nl.load(x.rearrange(("p", ("a", "b")), ("p", "b", "a")))


@nki.jit
def wrong_size_of_a_part(x):
    # CHECK: error[view]: view of 'x': rearrange of ('a', 'b') to [5, -1]; the shape is (128, 512); legal: sizes of at least 1 whose product is 512, one of them may be -1
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: give sizes whose product divides 512, the size of the dimension
    nl.load(x.rearrange(("p", ("a", "b")), ("p", "b", "a"), {"a": 5}))


@nki.jit
def names_of_other_dimensions(x):
    # CHECK: error[view]: view of 'x': rearrange of ('p', 'a', 'b') to ('p', 'b', 'a') names 3 dimension(s); the shape is (128, 512); legal: 2 names or groups
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: name the 2 dimensions of x; a tuple in the pattern is a dimension with several parts
    nl.load(x.rearrange(("p", "a", "b"), ("p", "b", "a")))


@nki.jit
def forgotten_name(x):
    # CHECK: error[view]: view of 'x': rearrange of ('p', 'a') to ('p', 'b'); the shape is (128, 512); legal: the same names on both sides, each once
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: write each of 'p', 'a', 'b' once on each side
    nl.load(x.rearrange(("p", "a"), ("p", "b")))


@nki.jit
def step_of_a_partition(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': ap({{\[\[}}1, 128], [1, 512]]) does not begin with the partition dimension; the allocation's shape is (128, 512); legal: [512, partitions] and another pair, in SBUF and PSUM
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:17
    # CHECK: = help: begin with [512, 128]: from one partition to the next are the 512 elements of a partition
    nl.store(x, t.ap([[1, 128], [1, 512]]))


@nki.jit
def pattern_of_elements(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': ap({{\[\[}}1, 512]]) does not begin with the partition dimension; the allocation's shape is (128, 512); legal: [512, partitions] and another pair, in SBUF and PSUM
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:17
    # CHECK: = help: write a pair for the partitions and one for the elements, {{\[\[}}512, 128], [1, 512]]
    nl.store(x, t.ap([[1, 512]]))


@nki.jit
def exchanged_in_pairs(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': ap({{\[\[}}128, 512], [512, 1]]) does not begin with the partition dimension; the allocation's shape is (128, 512); legal: [512, partitions] and another pair, in SBUF and PSUM
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:17
    # CHECK: = help: a pair is [stride, count]: write {{\[\[}}512, 128], [1, 512]]
    nl.store(x, t.ap([[128, 512], [512, 1]]))


@nki.jit
def numbers_without_pairs(x):
    # CHECK: error[view]: view of 'x': 512 is no pair; the pattern is [512, 128]; legal: one [stride, count] or more, counts of at least 1
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: write a list of pairs, {{\[\[}}stride, count], …], each with integers and a count of at least 1
    nl.load(x.ap([512, 128]))


@nki.jit
def float_count(x):
    # CHECK: error[view]: view of 'x': [1, 256.0] is no pair; the pattern is {{\[\[}}512, 128], [1, 256.0]]; legal: one [stride, count] or more, counts of at least 1
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: divide sizes with //, which gives ints; / gives floats
    nl.load(x.ap([[512, 128], [1, x.shape[1] / 2]]))


@nki.jit
def offset_of_rows(x):
    # CHECK: error[view]: view of 'x': the index is 3; legal: a tensor or a register
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: pass an index that is known while tracing as a start: offset=3 elements
    nl.load(x.ap([[512, 128], [1, 512]], vector_offset=3))


@nki.jit
def register_for_rows(x):
    r = nisa.register_alloc(3)
    # CHECK: error[view]: view of 'x': the index is VirtualRegister(r); legal: a tensor or a register
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: pass a register as scalar_offset=; vector_offset= takes a tile, an index per row
    nl.load(x.ap([[512, 128], [1, 512]], vector_offset=r))


@nki.jit
def rows_of_a_tile(x):
    t = nl.load(x)
    rows = nl.ndarray((128, 1), nl.int32, buffer=nl.sbuf)
    # CHECK: error[view]: view of 't': the partition dimension is not addressed at run time
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:17
    # CHECK: = help: select the rows in HBM, e.g. nl.load(x.vector_select(0, indices))
    nl.store(x, t.ap([[512, 128], [1, 512]], vector_offset=rows))


@nki.jit
def static_dimension(x):
    # CHECK: error[view]: view of 'x': indirect_dim goes with scalar_offset or vector_offset
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:13
    # CHECK: = help: leave indirect_dim out, or pass scalar_offset= with the index; offset= counts elements
    nl.load(x.ap([[512, 128], [1, 512]], indirect_dim=1))


@nki.jit
def bits_of_a_strided_row(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': view of 32-bit elements as 16-bit elements of a last dimension with stride 2; the shape is (128, 256); legal: a contiguous last dimension
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:17
    # CHECK: = help: view the whole tensor first and slice the view: the last dimension has no step
    nl.store(x, t[:, ::2].view(nl.bfloat16))


@nki.jit
def bits_of_an_odd_row(x):
    t = nl.ndarray((128, 511), nl.bfloat16, buffer=nl.sbuf)
    # CHECK: error[view]: view of 't': view of 16-bit elements as 32-bit elements at offset 0; the shape is (128, 511); legal: a last dimension and an offset divisible by 2
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:17
    # CHECK: = help: slice and allocate the last dimension in multiples of 2 elements
    nl.store(x, t.view(nl.float32))


@nki.jit
def unknown_bits(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': unknown data type 'fp8'; did you mean 'float8_e4m3'?
    # CHECK-NEXT: --> {{.*}}shapes-of-views.py:[[# @LINE + 2]]:17
    # CHECK: = help: write nl.float8_e4m3
    nl.store(x, t.view("fp8"))
