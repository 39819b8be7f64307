"""Behaviour of published classic kernels beyond the reference, against NumPy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import nkijit.classic as nki
import nkijit.classic.compiler as ncc
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl
from nkijit import NkiValidationError

# The parameters of kernels are arrays outside and tensors inside.
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

Array = np.ndarray[Any, Any]


def random(*shape: int) -> Array:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def matrices(steps: int) -> tuple[Array, Array, Array]:
    """Two stacks of matrices and the sum of their products, in float64."""
    a, b = random(steps, 128, 64), random(steps, 128, 96)
    return a, b, np.einsum("kij,kil->jl", a.astype(np.float64), b)


def rules(kernel: Any, *args: Any) -> set[str]:
    return {found.rule.id for found in kernel.trace(*args).diagnostics}


@pytest.mark.parametrize("steps", [1, 3])
def test_matmuls_accumulate_in_a_part_without_a_copy(steps: int) -> None:
    @nki.jit
    def kernel(a, b):
        out = nl.ndarray((64, 96), dtype=nl.float32, buffer=nl.shared_hbm)
        total = nl.zeros((64, 96), nl.float32, buffer=nl.psum)
        for i in nl.affine_range(steps):
            total[...] += nisa.nc_matmul(nl.load(a[i]), nl.load(b[i]))
        nl.store(out, nl.copy(total))
        return out

    a, b, expected = matrices(steps)
    assert np.allclose(kernel(a, b), expected, rtol=1e-4, atol=1e-3)
    traced = kernel.trace(a, b)
    assert str(traced).count("nisa.tensor_copy") == 1  # from PSUM to SBUF
    assert "nisa.memset" not in str(traced)
    assert not {"err_unexpected_output_dependencies", "psum-overwritten"} & rules(kernel, a, b)


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("key", [..., (slice(None), slice(None))])
def test_the_first_matmul_overwrites_a_tile_that_nothing_has_written(steps: int, key: Any) -> None:
    @nki.jit
    def kernel(a, b):
        out = nl.ndarray((64, 96), dtype=nl.float32, buffer=nl.shared_hbm)
        total = nl.ndarray(
            (1, nl.par_dim(64), 96), nl.float32, buffer=ncc.psum.mod_alloc(base_bank=2)
        )
        for i in nl.affine_range(steps):
            total[0][key] += nisa.nc_matmul(nl.load(a[i]), nl.load(b[i]))
        nl.store(out, nl.copy(total[0]))
        return out

    a, b, expected = matrices(steps)
    assert np.allclose(kernel(a, b), expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("rows", [1, 40, 64])
def test_a_masked_matmul_leaves_the_zeros_around_it(rows: int) -> None:
    @nki.jit
    def kernel(a, b):
        out = nl.ndarray((64, 96), dtype=nl.float32, buffer=nl.shared_hbm)
        total = nl.zeros((64, 96), nl.float32, buffer=nl.psum)
        i_p = nl.arange(64)[:, None]
        for i in range(2):
            total[...] += nisa.nc_matmul(nl.load(a[i]), nl.load(b[i]), mask=i_p < rows)
        nl.store(out, nl.copy(total))
        return out

    a, b, expected = matrices(2)
    expected[rows:] = 0
    assert np.allclose(kernel(a, b), expected, rtol=1e-4, atol=1e-3)


def test_a_mask_that_is_never_true_adds_nothing() -> None:
    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        total = nl.load(a)
        i_p = nl.arange(128)[:, None]
        total += nl.exp(total, mask=i_p < 0)
        total[...] += nl.exp(total, mask=i_p > 127)
        nl.store(out, total)
        return out

    a = random(128, 64)
    assert np.array_equal(kernel(a), a)


def test_a_tile_that_a_mask_leaves_unwritten_may_be_copied() -> None:
    @nki.jit
    def kernel(a, b):
        out = nl.ndarray((128, 96), dtype=nl.float32, buffer=nl.shared_hbm)
        for i in range(2):
            total = nl.ndarray((64, 96), nl.float32, buffer=nl.psum)
            total[...] += nisa.nc_matmul(nl.load(a), nl.load(b), mask=i < 1)
            i_p, i_f = nl.mgrid[0:64, 0:96]
            nl.store(out[64 * i + i_p, i_f], nl.copy(total), mask=i < 1)
        nl.store(out[64:128], 0.0)
        return out

    a, b = random(128, 64), random(128, 96)
    expected = np.concatenate([a.T.astype(np.float64) @ b, np.zeros((64, 96))])
    assert np.allclose(kernel(a, b), expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("count", [1, 60, 128])
def test_a_masked_value_is_added_where_the_mask_holds(count: int) -> None:
    @nki.jit
    def kernel(a, b):
        out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        total = nl.load(a)
        i_p = nl.arange(128)[:, None]
        total += nl.multiply(nl.load(b), 2.0, mask=i_p < count)
        nl.store(out, total)
        return out

    a, b = random(128, 64), random(128, 64)[::-1].copy()
    expected = a.copy()
    expected[:count] += b[:count] * 2
    assert np.array_equal(kernel(a, b), expected)


@pytest.mark.parametrize("axis", [[2, 4], (1, 3), 1, [1], -3, [1, 2], [3, 1]])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_over_dimensions_that_are_not_the_last(axis: Any, keepdims: bool) -> None:
    a = random(5, 2, 3, 4, 2)

    def kernel(function, dtype=nl.float32):
        @nki.jit
        def reduced(a):
            result = function(nl.load(a), axis=axis, keepdims=keepdims)
            out = nl.ndarray(result.shape, dtype=dtype, buffer=nl.shared_hbm)
            nl.store(out, result)
            return out

        return reduced

    over = tuple(axis) if isinstance(axis, (list, tuple)) else axis
    wide = a.astype(np.float64)
    for function, reference in ((nl.sum, np.sum), (nl.max, np.max), (nl.mean, np.mean)):
        expected = reference(wide, axis=over, keepdims=keepdims)
        result = kernel(function)(a)
        assert result.shape == expected.shape
        assert np.allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_a_reduction_of_selected_elements_under_a_mask() -> None:
    @nki.jit
    def windows(a):
        """Sliding maxima of three rows and columns; rows below the tile are masked."""
        out = nl.ndarray((30, 14), dtype=nl.float32, buffer=nl.shared_hbm)
        i_h, i_k, i_w = nl.mgrid[0:64, 0:3, 0:16]
        tile = nl.load(a[i_h + i_k, i_w], mask=i_h < 30)
        i_h, i_k, i_w, i_j = nl.mgrid[0:64, 0:3, 0:14, 0:3]
        result = nl.max(tile[i_h, i_k, i_w + i_j], axis=[1, 3], mask=i_h < 30)
        i_h, i_w = nl.mgrid[0:64, 0:14]
        nl.store(out[i_h, i_w], result, mask=i_h < 30)
        return out

    a = random(32, 16)
    expected = np.lib.stride_tricks.sliding_window_view(a, (3, 3)).max((2, 3))
    assert np.array_equal(windows(a), expected)


@pytest.mark.parametrize("axis", [0, [0, 1], [1, 1], [], 5, 1.0])
def test_axes_that_cannot_be_reduced(axis: Any) -> None:
    @nki.jit
    def kernel(a):
        return nl.sum(nl.load(a), axis=axis)

    with pytest.raises(NkiValidationError, match="axis"):
        kernel(random(4, 3, 2))


def test_results_in_psum_are_copied_for_readers_of_sbuf() -> None:
    @nki.jit
    def kernel(a, b):
        out = nl.ndarray((2, 64, 96), dtype=nl.float32, buffer=nl.shared_hbm)
        transposed = nisa.nc_transpose(nl.load(a))
        nl.store(out[0], nisa.nc_matmul(transposed, nl.load(b)))
        nl.store(out[1], nl.matmul(nl.transpose(nl.load(a)), nl.load(b), transpose_x=True))
        return out

    a, b = random(64, 128), random(128, 96)
    expected = a.astype(np.float64) @ b
    assert np.allclose(kernel(a, b), [expected, expected], rtol=1e-4, atol=1e-3)


def test_a_declared_psum_tile_is_no_operand_of_a_matmul() -> None:
    @nki.jit
    def kernel(a):
        tile = nl.zeros((128, 64), nl.float32, buffer=nl.psum)
        return nisa.nc_matmul(tile, nl.load(a))

    with pytest.raises(NkiValidationError, match="'stationary' must be in sbuf, it is in psum"):
        kernel(random(128, 64))


def test_affine_select_takes_a_tile_in_psum() -> None:
    @nki.jit
    def kernel(a, b):
        out = nl.ndarray((64, 96), dtype=nl.float32, buffer=nl.shared_hbm)
        product = nl.zeros((64, 96), nl.float32, buffer=nl.psum)
        product[...] += nisa.nc_matmul(nl.load(a), nl.load(b))
        i_p, i_f = nl.mgrid[0:64, 0:96]
        nl.store(out, nisa.affine_select(i_p >= i_f, product, -5.0))
        return out

    a, b = random(128, 64), random(128, 96)
    expected = np.where(np.tri(64, 96), a.T.astype(np.float64) @ b, -5)
    assert np.allclose(kernel(a, b), expected, rtol=1e-4, atol=1e-3)


def test_tensor_tensor_repeats_a_column() -> None:
    @nki.jit
    def kernel(a, b):
        out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(out, nisa.tensor_tensor(nl.load(a), nl.load(b), nl.multiply))
        return out

    a, b = random(128, 64), random(128, 1)
    assert np.array_equal(kernel(a, b), a * b)


def test_loop_reduce_reduces_into_the_assigned_tile() -> None:
    @nki.jit
    def kernel(a):
        out = nl.ndarray((2, 128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        total = nl.zeros((128, 64), nl.float32)
        largest = nl.full((1, nl.par_dim(128), 64), -1.0, nl.float32)
        i_p = nl.arange(128)[:, None]
        for i in nl.affine_range(3):
            tile = nl.load(a[i])
            total[...] = nl.loop_reduce(tile, op=np.add, loop_indices=[i], dtype=nl.float32)
            largest[0] = nl.loop_reduce(tile, op=np.maximum, loop_indices=(i,), mask=i_p < 50)
        nl.store(out[0], total)
        nl.store(out[1], largest[0])
        return out

    a = random(3, 128, 64)
    expected = np.full((128, 64), -1.0)
    expected[:50] = np.maximum(a.max(0), -1)[:50]
    total, largest = kernel(a)
    assert np.allclose(total, a.astype(np.float64).sum(0), rtol=1e-5, atol=1e-5)
    assert np.array_equal(largest, expected)


def test_one_tile_has_one_place_for_any_free_space() -> None:
    @nki.jit
    def kernel(a):
        place = ncc.sbuf.mod_alloc(base_addr=512, num_free_tiles=(4,))
        tile = nl.ndarray((128, 64), nl.float32, buffer=place)
        tile[...] = nl.load(a)
        out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(out, tile)
        return out

    a = random(128, 64)
    assert np.array_equal(kernel(a), a)
    assert "address=[0, 512]" in str(kernel.trace(a)).replace("(", "[").replace(")", "]")


def test_functions_that_place_tiles_get_their_arguments_by_name() -> None:
    def place(base, idx, pdim_size, fdim_size):
        return 0, base + idx[0] * fdim_size

    @nki.jit
    def kernel(a):
        buffer = ncc.sbuf.alloc(functools.partial(place, base=1024))
        partly = ncc.sbuf.alloc(functools.partial(place, 4096))
        tiles = nl.ndarray((2, nl.par_dim(128), 64), nl.float32, buffer=buffer)
        others = nl.ndarray((2, nl.par_dim(128), 64), nl.float32, buffer=partly)
        out = nl.ndarray((2, 128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        for i in nl.affine_range(2):
            tiles[i] = nl.load(a[i])
            others[i] = nl.multiply(tiles[i], 2.0)
            nl.store(out[i], others[i])
        return out

    a = random(2, 128, 64)
    assert np.array_equal(kernel(a), a * 2)


def test_a_sequential_loop_that_keeps_its_order() -> None:
    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        tile = nl.load(a)
        for _ in nl.sequential_range(3, directives=ncc.no_reorder()):
            tile[...] = nl.multiply(tile, 2.0)
        nl.store(out, tile)
        return out

    a = random(128, 64)
    assert np.array_equal(kernel(a), a * 8)
    assert "nki.no_reorder" in str(kernel.trace(a))


def test_when_initial_values_are_written_makes_no_difference() -> None:
    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        tile = nl.full((128, 64), 3.0, nl.float32, lazy_initialization=True)
        tile += nl.load(a)
        nl.store(out, tile)
        return out

    a = random(128, 64)
    assert np.array_equal(kernel(a), a + 3)


def test_block_dimensions_stay_where_bits_are_read_as_another_type() -> None:
    @nki.jit
    def kernel(a):
        tiles = nl.ndarray((2, nl.par_dim(128), 4), nl.float32)
        out = nl.ndarray((2, 128, 16), dtype=nl.uint8, buffer=nl.shared_hbm)
        for i in nl.affine_range(2):
            tiles[i] = nl.load(a[i])
            nl.store(out[i], tiles.view(nl.uint8)[i, :, 0:16])
        return out

    a = random(2, 128, 4)
    assert np.array_equal(kernel(a), a.view(np.uint8))


def test_instructions_have_the_names_that_kernels_give_them() -> None:
    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        tile = nl.ndarray((128, 64), nl.float32)
        tile[...] = nisa.activation(nl.exp, nl.load(a), name="first")
        tile[...] = nl.loop_reduce(tile, np.add, loop_indices=[0], name="second")
        nl.store(out, tile)
        return out

    a = random(128, 64)
    assert np.allclose(kernel(a), 2 * np.exp(a), rtol=1e-5)
    lines = str(kernel.trace(a)).splitlines()
    assert [line.split()[0] for line in lines if 'name="first"' in line] == ["nisa.activation"]
    assert [line.split()[0] for line in lines if 'name="second"' in line] == ["nisa.tensor_tensor"]


def test_a_name_that_is_no_string() -> None:
    @nki.jit
    def kernel(a):
        return nisa.activation(nl.exp, nl.load(a), name=3)

    with pytest.raises(NkiValidationError, match="'name': expected a string, got 3"):
        kernel(random(128, 64))


def test_accesses_of_more_dimensions_than_an_engine_walks_are_taken_apart() -> None:
    """A stencil in three dimensions: corners of every second cell, with both neighbours."""

    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray((8, 8, 10, 12), dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        result = nl.zeros((8, 8, 10, 12), dtype=nl.float32)
        shape = (1, 4, 2, 5, 2, 6, 2)
        at = [
            nl.arange(n)[tuple(slice(None) if d == k else None for d in range(7))]
            for k, n in enumerate(shape)
        ]
        p = nl.arange(8)[:, None, None, None, None, None, None]
        d, h, w = 2 * at[1] + at[2], 2 * at[3] + at[4], 2 * at[5] + at[6]
        result[p, 2 * at[1] + 1 - at[2], h, w] = tile[p, d, h, 2 * at[5] + 1 - at[6]] * 3.0
        nl.store(out, result)
        return out

    x = np.random.default_rng(1).random((8, 8, 10, 12)).astype(np.float32)
    expected = x.reshape(8, 4, 2, 10, 12)[:, :, ::-1].reshape(x.shape)
    expected = expected.reshape(8, 8, 10, 6, 2)[..., ::-1].reshape(x.shape) * 3
    assert np.array_equal(kernel(x), expected)


@pytest.mark.parametrize("loop", ["affine_range", "sequential_range"])
def test_arguments_of_loops_that_are_not_documented_are_refused_by_name(loop: str) -> None:
    @nki.jit
    def kernel(x: Any) -> Any:
        for _ in getattr(nl, loop)(4, precise_schedule=True):
            pass
        return x

    with pytest.raises(NkiValidationError, match="'precise_schedule'"):
        kernel.trace(np.zeros((4, 4), np.float32))


@pytest.mark.parametrize("rows", [128, 200])
def test_one_mesh_serves_tiles_of_different_dimensions(rows: int) -> None:
    @nki.jit
    def kernel(x, weights):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        row, one, column = nl.mgrid[0:128, 0:1, 0 : x.shape[1]]
        weight = nl.load(weights.reshape((1, x.shape[1]))[one, column])
        assert weight.shape == (1, x.shape[1])
        for step in nl.affine_range(-(-x.shape[0] // 128)):
            inside = step * 128 + row < x.shape[0]
            tile = nl.load(x[step * 128 + row, column], mask=inside)
            assert tile.shape == (128, x.shape[1])
            peak = nl.max(tile, axis=[1])
            scaled = nl.multiply(
                nl.subtract(tile, peak), weight.broadcast_to(tile.shape), mask=inside
            )
            nl.store(out[step * 128 + row, column], scaled, mask=inside)
        return out

    x, weights = random(rows, 48), random(48)
    expected = (x - x.max(axis=1, keepdims=True)) * weights
    np.testing.assert_allclose(kernel(x, weights), expected, rtol=1e-6)


def test_a_partition_that_no_index_has_is_the_dimension_of_one_element() -> None:
    @nki.jit
    def kernel(x):
        out = nl.ndarray((1, x.shape[0]), dtype=x.dtype, buffer=nl.shared_hbm)
        _, column, one = nl.mgrid[0:128, 0 : x.shape[0], 0:1]
        tile = nl.load(x.reshape((1, x.shape[0]))[one, column])
        nl.store(out, tile)
        return out

    x = random(300)
    assert np.array_equal(kernel(x)[0], x)


def test_an_index_of_a_wide_mesh_is_of_its_own_dimension_only() -> None:
    @nki.jit
    def kernel(x):
        rows, columns = x.shape
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        row, column = nl.mgrid[0:rows, 0:columns]
        _, inner = nl.mgrid[0:1, 0 : columns // 4]
        tile = nl.load(x)
        peaks = nl.ndarray((nl.par_dim(rows), 4), dtype=x.dtype, buffer=nl.sbuf)
        shifted = nl.ndarray((nl.par_dim(rows), columns), dtype=x.dtype, buffer=nl.sbuf)
        for part in nl.affine_range(4):
            block = part * (columns // 4) + inner
            assert peaks[row, part].shape == (rows, 1)
            shifted[row, block] = nisa.tensor_scalar_reduce(
                data=tile[row, block],
                op0=np.multiply,
                operand0=2.0,
                reduce_op=np.max,
                reduce_res=peaks[row, part],
            )
        peak = nisa.tensor_reduce(np.max, data=peaks, axis=(1,))
        nl.store(out[row, column], nl.subtract(shifted, peak))
        return out

    x = random(64, 96)
    expected = 2 * x - 2 * x.max(axis=1, keepdims=True)
    np.testing.assert_allclose(kernel(x), expected, rtol=1e-6, atol=1e-6)


def test_all_dimensions_of_a_mesh_stay_where_an_index_has_them() -> None:
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        i, j, k = nl.mgrid[0:8, 0:1, 0:6]
        tile = nl.load(x[i, j, k])
        assert tile.shape == (8, 1, 6)
        nl.store(out[i, j, k], nl.add(tile, tile[i, j, 5]), mask=k < 4)
        nl.store(out[i, j, k], 0.0, mask=k >= 4)
        return out

    x = random(8, 1, 6)
    expected = np.where(np.arange(6) < 4, x + x[:, :, 5:], 0)
    np.testing.assert_allclose(kernel(x), expected, rtol=1e-6)


@pytest.mark.parametrize("by_window", [False, True])
def test_slices_may_run_past_a_tensor_where_the_mask_leaves_that_out(by_window: bool) -> None:
    @nki.jit
    def kernel(x):
        rows = x.shape[0]
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        row = nl.arange(128)[:, None, None]
        for step in nl.affine_range(-(-rows // 128)):
            first = step * 128
            part = nl.ds(first, 128) if by_window else slice(first, first + 128)
            inside = first + row < rows
            tile = nl.zeros((128, 3, 10), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(src=x[part, 1:4], dst=tile, mask=inside)
            loaded = nl.load(x[part, 1:4, ...], mask=inside)
            nl.store(out[part, 0:3, :], nl.add(tile, loaded), mask=inside)
            nl.store(out[part, 3], loaded[:, 0], mask=first + nl.arange(128)[:, None] < rows)
        return out

    x = random(200, 4, 10)
    expected = np.concatenate([2 * x[:, 1:4], x[:, 1:2]], axis=1)
    np.testing.assert_allclose(kernel(x), expected, rtol=1e-6)


def test_a_slice_that_runs_past_a_tensor_without_a_mask_is_out_of_bounds() -> None:
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load(x[0:128, :]))
        return out

    with pytest.raises(NkiValidationError, match="slice 0:128 of dim 0 runs past its size 100"):
        kernel(random(100, 8))
