# RUN: %python %S/../../Inputs/verify_kernels.py %s -a x=128x64:float32 -a rows=64x1:int32 -t trn2 | filecheck --match-full-lines %s

# Mistakes by the names of the public error reference, each at the author's line.

import numpy as np

import nkijit.classic as nki
import nkijit.classic.language as nl
from nkijit.classic.tensors.memory import DirectAllocation
from nkijit.dialects.hardware.words import MemoryRegion


@nki.jit
def one_dimension(x, rows):
    tile = nl.load(x)
    # CHECK: error[err_1d_arange_not_supported]: tensor 'tile': an index of one dimension
    # CHECK-NEXT: --> {{.*}}errors.py:[[# @LINE + 5]]:12
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 3]] | nl.exp(tile[nl.arange(64), 0])
    # CHECK-NEXT: | ^^^^
    # CHECK-NEXT: = help: add a dimension, nl.arange(n)[:, None], or index with slices
    nl.exp(tile[nl.arange(64), 0])


@nki.jit
def not_affine(x, rows):
    i_p = nl.arange(64)[:, None]
    # CHECK: error[affine-index]: index expression: i_p * i_p is not affine
    # CHECK: = help: multiply an expression by an integer, and add expressions
    nl.load(x[i_p * i_p, nl.arange(64)[None, :]])


@nki.jit
def assigned(x, rows):
    i_p = nl.arange(64)[:, None]
    # CHECK: error[err_cannot_assign_to_index]: index expression: an index expression does not support item assignment
    # CHECK-NEXT: --> {{.*}}errors.py:[[# @LINE + 1]]:5
    i_p[0] = 3


@nki.jit
def control_flow(x, rows):
    i_p = nl.arange(64)[:, None]
    # CHECK: error[err_control_flow_condition_depending_on_arange]: index expression: control flow depends on nl.arange or nl.mgrid
    # CHECK: = help: write mask=i_p < 32 in the instruction, or select with nl.where(i_p < 32, ..., ...)
    if i_p < 32:
        nl.load(x)


@nki.jit
def loop_over_arange(x, rows):
    # CHECK: error[err_control_flow_condition_depending_on_arange]: index expression: nl.arange and nl.mgrid index tiles, Python cannot loop over them
    # CHECK: [[# @LINE + 2]] | for i in nl.arange(1, 9, 2):
    # CHECK: = help: loop with nl.affine_range(1, 9, 2), or with nl.sequential_range(1, 9, 2) if iterations depend on earlier ones
    for i in nl.arange(1, 9, 2):
        nl.load(x[i])


@nki.jit
def computed_with_a_comparison(x, rows):
    tile = nl.load(x)
    # CHECK: error[argument]: nl.multiply: 'y': expected a tile or a number, got (-1*i1 + 49 >= 0)
    # CHECK: = help: select with nl.where(comparison, x, y), or make a tile of 1 and 0 with nl.broadcast_to(comparison, shape=tile.shape)
    tile * (nl.arange(64)[None, :] < 50)


@nki.jit
def computed_with_an_index(x, rows):
    tile = nl.load(x)
    # CHECK: error[argument]: nl.add: 'y': expected a tile or a number, got 1*i1
    # CHECK: = help: make a tile of an index expression with nisa.iota(expr, dtype=nl.int32)
    tile + nl.arange(64)[None, :]


@nki.jit
def joined_with_or(x, rows):
    i_p, i_f = nl.mgrid[0:128, 0:64]
    # CHECK: error[err_unsupported_expression_in_mask]: mask: a mask is a conjunction, it cannot be joined with |
    # CHECK: = help: write one instruction for each part
    nl.load(x, mask=(i_p < 3) | (i_f < 3))


@nki.jit
def no_mask(x, rows):
    tile = nl.load(x)
    # CHECK: error[err_unsupported_expression_in_mask]: nl.exp: 'mask': expected a comparison of affine index expressions, got tensor({{.*}})
    nl.exp(tile, mask=tile > 0)


@nki.jit
def mask_of_another_shape(x, rows):
    tile = nl.load(x)
    # CHECK: error[err_unsupported_expression_in_mask]: mask: a mask of shape (32, 1) does not fit a tile of shape (128, 64)
    nl.exp(tile, mask=nl.arange(32)[:, None] < 3)


@nki.jit
def reduction_over_no_block(x, rows):
    i_p, i_f = nl.mgrid[0:128, 0:64]
    # CHECK: error[err_unsupported_expression_in_mask]: nl.sum: 'mask' leaves no block of the tile, and the function reads across elements or writes in place
    # CHECK: = help: mask one dimension with each comparison, or fill the rest first
    nl.sum(nl.load(x), axis=1, mask=i_p >= i_f)


@nki.jit
def mixed(x, rows):
    tile = nl.load(x)
    # CHECK: error[err_unsupported_mixing_basic_advanced_tensor_indexing]: tensor 'tile': slices and index expressions in one index
    # CHECK: = help: write index expressions for all dimensions: nl.arange(64)[None, :] for dimension 1
    nl.exp(tile[nl.arange(4)[:, None], :])


@nki.jit
def out_of_bounds(x, rows):
    out = nl.ndarray((128, 100), x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:128, 0:64]
    nl.store(out[i_p, 64 + i_f], 0, mask=64 + i_f < 100)
    # CHECK: error[err_tensor_access_out_of_bound]: tensor 'out': index range [64, 127] exceeds dimension 1, whose size is 100
    # CHECK-NEXT: --> {{.*}}errors.py:[[# @LINE + 2]]:5
    # CHECK: = help: leave out the elements beyond the tensor, mask=(index < 100) with the index expression of this dimension, or correct the expression
    nl.store(out[i_p, 64 + i_f], 0)


@nki.jit
def block_dimension(x, rows):
    blocks = nl.zeros((4, nl.par_dim(8), 8), np.float32)
    nl.add(blocks[0], 32)
    # CHECK: error[err_failed_to_infer_tile_from_local_tensor]: tensor 'blocks': it has block dimensions (4,) in front of the partition dimension
    # CHECK-NEXT: --> {{.*}}errors.py:[[# @LINE + 2]]:5
    # CHECK: = help: index the block dimensions with integers
    nl.add(blocks, 32)


@nki.jit
def shapes(x, rows):
    tile = nl.load(x)
    # CHECK: error[free-size-match]: nl.add: operands that do not fit together: 'tile' has (128, 64), 'tile[:, 0:32]' has (128, 32)
    # CHECK: = help: each dimension has the same size or 1: slice dim 1 of 'tile', [:, 0:32]
    nl.add(tile, tile[:, 0:32])


@nki.jit
def partitions_to_elements(x, rows):
    cube = nl.ndarray((64, 128, 64), x.dtype)
    # CHECK: error[err_failed_to_infer_tile_from_local_tensor]: nl.add: tile 'tile' of shape (128, 64) would broadcast its partitions to another dimension of 3
    # CHECK: = help: give the tiles the same number of dimensions
    tile = nl.load(x)
    nl.add(cube, tile)


@nki.jit
def numbers(x, rows):
    # CHECK: error[err_failed_to_infer_tile_from_local_tensor]: nl.add: operands that do not fit together: no tile
    # CHECK: = help: compute with numbers in Python
    nl.add(1, 2)


@nki.jit
def smaller_destination(x, rows):
    column = nl.ndarray((128, 1), x.dtype)
    # CHECK: error[err_store_dst_shape_smaller_than_other_shape]: tensor 'column': what is assigned has shape (128, 64), which does not broadcast to (128, 1), the shape of the destination
    # CHECK: = help: assign the part [:, 0:1], or make the destination as large, (128, 64)
    column[...] = nl.load(x)


@nki.jit
def smaller_store(x, rows):
    out = nl.ndarray((128, 1), x.dtype, buffer=nl.shared_hbm)
    # CHECK: error[err_store_dst_shape_smaller_than_other_shape]: tensor 'out': what is assigned has shape (128, 64), which does not broadcast to (128, 1), the shape of the destination
    nl.store(out, nl.load(x))


@nki.jit
def truth_value(x, rows):
    tile = nl.load(x)
    # CHECK: error[err_ambiguous_tensor_truth_value]: tile > 0: the values of a tensor are not known while a kernel is traced
    # CHECK: = help: compare with `is None`, or use & | ~ for tensors
    assert tile > 0


@nki.jit
def dynamic_control_flow(x, rows):
    first = nl.load(x[0:1, 0:1])
    # CHECK: error[err_dynamic_control_flow_not_supported]: first < 1: the values of a tensor are not known while a kernel is traced
    # CHECK: = help: decide on shapes, dtypes and other arguments, or compute both with nl.where
    while first < 1:
        pass


@nki.jit
def two_indirect_indices(x, rows):
    at = nl.load(rows)
    # CHECK: error[err_indirect_indices_free_dim]: tensor 'x': 2 indices are tiles
    nl.load(x[at, at])


@nki.jit
def indirect_with_mgrid(x, rows):
    at = nl.load(rows)
    i_p, i_f = nl.mgrid[0:64, 0:64]
    # CHECK: error[err_indirect_indices_free_dim]: tensor 'x': the index of dimension 0 is a tile of shape (64, 64)
    # CHECK: = help: make the index with nl.arange(n)[:, None] and not with nl.mgrid
    nl.load(x[at[i_p, 0 * i_f], i_f])


@nki.jit
def initial_value_in_hbm(x, rows):
    # CHECK: error[err_hbm_tensor_with_init_value_not_supported]: nl.full: a tensor in shared_hbm with an initial value
    # CHECK: = help: allocate it with nl.ndarray and store to it
    nl.full((3, 128, 512), 1.0, np.float32, buffer=nl.shared_hbm)


@nki.jit
def initial_value_at_an_address(x, rows):
    placed = DirectAllocation(MemoryRegion.sbuf, lambda index, partitions, size: (0, 0))
    # CHECK: error[err_tensor_creation_on_scratchpad_with_init_value_not_supported]: nl.zeros: a tensor at a fixed address with an initial value
    # CHECK: = help: allocate it with nl.ndarray and assign to it
    nl.zeros((128, 512), np.float32, buffer=placed)


@nki.jit
def load_from_sbuf(x, rows):
    # CHECK: error[err_unsupported_memory]: nl.load: 'src' must be in hbm, it is in sbuf
    # CHECK: = help: 'src' is on chip already: pass it to functions as it is, or copy it with nisa.tensor_copy
    nl.load(nl.load(x))


@nki.jit
def store_to_psum(x, rows):
    banked = nl.ndarray((128, 64), np.float32, buffer=nl.psum)
    # CHECK: error[err_unsupported_memory]: nl.store: 'banked' must be in hbm, it is in psum
    nl.store(banked, nl.load(x))


@nki.jit
def transposed_load_from_sbuf(x, rows):
    # CHECK: error[err_unsupported_memory]: nl.load_transpose2d: 'src' must be in hbm, it is in sbuf
    nl.load_transpose2d(nl.load(x))


@nki.jit
def atomic_without_indices(x, rows):
    out = nl.ndarray((128, 64), x.dtype, buffer=nl.shared_hbm)
    # CHECK: error[unsupported]: nl.atomic_rmw: 'out' has no index that is a tile, the one form that is documented
    nl.atomic_rmw(out, nl.load(x), np.add)


@nki.jit
def reduced_over_a_loop(x, rows):
    total = nl.zeros((128, 64), np.float32)
    for i in range(2):
        total = nl.loop_reduce(nl.load(x), op=np.add, loop_indices=[i])
    # CHECK: error[argument]: nl.exp: 'x': expected a tensor, got nl.loop_reduce(…), which is assigned to part of a tensor: b[...] = …
    return nl.exp(total)


@nki.jit
def reduced_over_programs(x, rows):
    # CHECK: error[unsupported]: nl.all_reduce: instances of a grid run one after the other, none has the tiles of later ones
    nl.all_reduce(nl.load(x), np.add, 0)


@nki.jit
def undocumented_argument(x, rows):
    # CHECK: error[unsupported]: nl.exp: arguments that are not documented: 'engine'
    nl.exp(nl.load(x), engine=3)


@nki.jit
def too_many_dimensions(x, rows):
    # CHECK: error[err_exceed_max_supported_dimension]: nl.transpose: 'x' of shape (64, 32, 2) has 3 dimensions; legal: 2
    # CHECK: = help: merge free dimensions with reshape, or index some of them with integers
    nl.transpose(nl.zeros((64, 32, 2), np.float32))


@nki.jit
def product_of_cubes(x, rows):
    tile = nl.load(x)
    # CHECK: error[err_exceed_max_supported_dimension]: nl.matmul: 'tile.reshape((128, 8, 8))' of shape (128, 8, 8) has 3 dimensions; legal: 2
    nl.matmul(tile.reshape((128, 8, 8)), tile)


@nki.jit
def new_dimensions(x, rows):
    # CHECK: error[argument]: nl.expand_dims: 'axis': expected positions from -4 to 3, got (1, -3)
    nl.expand_dims(nl.load(x), (1, -3))


@nki.jit
def seed_of_more_bits(x, rows):
    # CHECK: error[argument]: nl.random_seed: 'seed': expected an integer of 32 bits or a tile, got 4294967296
    nl.random_seed(2**32)


# Errors that rules of the hardware report under their own names.


@nki.jit
def partitions(x, rows):
    # CHECK: error[alloc-partitions]: nl.zeros: a tile in sbuf has at most 128 partitions, this one has 256
    nl.zeros((256, 64), np.float32)


@nki.jit
def rows_of_a_load(x, rows):
    hbm = nl.ndarray((256, 64), x.dtype, buffer=nl.hbm)
    # CHECK: error[alloc-partitions]: nl.load: a tile in sbuf has at most 128 partitions, this one has 256
    nl.load(hbm)


@nki.jit
def size_of_a_dimension(x, rows):
    # CHECK: error[transpose-shape]: nl.transpose: the Tensor Engine transposes at most 128x128, 'data' is 128x512
    nl.transpose(nl.zeros((128, 512), np.float32))


@nki.jit
def operand_in_hbm(x, rows):
    # CHECK: error[buffer]: nl.exp: 'x' must be in sbuf or psum, it is in private_hbm
    nl.exp(x)


@nki.jit
def axes(x, rows):
    # CHECK: error[reduce-axes]: nl.max: 'axis' is [0]; legal for this tile are [1]
    nl.max(nl.load(x), axis=0)
    # CHECK-NOT: exit code
