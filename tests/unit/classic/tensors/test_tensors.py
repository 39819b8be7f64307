"""Selections by index expressions, destinations of results, and assignments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl
from nkijit import NkiValidationError

Array = np.ndarray[Any, Any]


def random(*shape: int) -> Array:
    """Numbers that all differ."""
    return np.random.default_rng(7).permutation(np.prod(shape)).reshape(shape).astype(np.float32)


def instructions(text: str) -> list[str]:
    """The names of the instructions in the text of a kernel."""
    words = [word for line in text.splitlines() for word in line.split()[:1]]
    return [word for word in words if word.startswith("nisa.")]


@st.composite
def selections(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """Index expressions for a tensor: per dimension (start, step along rows, along columns)."""
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    chosen: list[tuple[int, int, int]] = []
    for size in shape:
        across = draw(st.integers(0, (size - 1) // max(rows - 1, 1)))
        rest = size - 1 - across * (rows - 1)
        along = draw(st.integers(0, rest // max(columns - 1, 1)))
        room = rest - along * (columns - 1)
        chosen.append((draw(st.integers(0, room)), across, along))
    return rows, columns, chosen


@given(st.data())
def test_index_expressions_select_the_same_elements_as_numpy_in_hbm(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(9,), (6, 8), (4, 5, 7), (2, 3, 4, 5)]))
    rows, columns, chosen = data.draw(selections(shape))
    a = random(*shape)

    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray((rows, columns), dtype=a.dtype, buffer=nl.shared_hbm)
        i, j = nl.arange(rows)[:, None], nl.arange(columns)[None, :]
        nl.store(out, nl.load(a[tuple(s + r * i + c * j for s, r, c in chosen)]))
        return out

    i, j = np.arange(rows)[:, None], np.arange(columns)[None, :]
    assert np.array_equal(kernel(a), a[tuple(s + r * i + c * j for s, r, c in chosen)])


def test_overlapping_windows_of_a_tile_on_chip() -> None:
    a = random(8, 10)

    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        tile = nl.load(a)
        p = nl.arange(8)[:, None, None]
        i, j = nl.arange(4)[None, :, None], nl.arange(3)[None, None, :]
        out = nl.ndarray((8, 4), dtype=a.dtype, buffer=nl.shared_hbm)
        nl.store(out, nisa.tensor_reduce(np.add, tile[p, 2 * i + j], axis=[2]))
        return out

    windows = np.lib.stride_tricks.sliding_window_view(a, 3, axis=1)[:, 0:8:2]
    assert np.array_equal(kernel(a), windows.sum(-1))


def test_a_mask_keeps_an_index_inside_its_tensor() -> None:
    a = random(100, 40)

    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        p, f = nl.arange(64)[:, None], nl.arange(40)[None, :]
        for i in range(2):
            inside = i * 64 + p < 100
            nl.store(out[i * 64 + p, f], nl.load(a[i * 64 + p, f], mask=inside), mask=inside)
        return out

    assert np.array_equal(kernel(a), a)


@pytest.mark.parametrize("flip", [False, True])
def test_masks_that_are_no_block_in_loads_and_stores(flip: bool) -> None:
    a = random(16, 16)

    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        i, j = nl.mgrid[0:16, 0:16]
        lower = (j >= i) if flip else (j <= i)
        loaded = nl.load(a[i, j], mask=lower)
        nl.store(out, -1.0)
        nl.store(out[i, j], loaded, mask=lower)
        return out

    expected = np.full_like(a, -1.0)
    kept = np.triu(np.ones((16, 16), bool)) if flip else np.tril(np.ones((16, 16), bool))
    expected[kept] = a[kept]
    assert np.array_equal(kernel(a), expected)


@pytest.mark.parametrize("first", [0, 4])
def test_an_assignment_under_a_triangular_mask_keeps_the_other_elements(first: int) -> None:
    a = random(32, 32)

    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        i, j = nl.mgrid[0:32, 0:32]
        x = nl.load(a)
        y = nl.full((32, 32), -7.0, dtype=nl.float32)
        y[i, j] = nisa.tensor_tensor(x, x, op=np.add, mask=(j + first <= i) & (i < 30))
        nl.store(out, y)
        return out

    i, j = np.mgrid[0:32, 0:32]
    assert np.array_equal(kernel(a), np.where((j + first <= i) & (i < 30), a + a, -7.0))
    # From partition 0 an engine copies by a predicate, which is in the IR; DMAs copy from others.
    assert ("cmp_op=greater_equal" in str(kernel.trace(a))) == (first == 0)


def test_empty_masks_leave_the_instruction_out() -> None:
    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        i, j = nl.mgrid[0:4, 0:4]
        x = nl.load(a)
        x[i, j] = nisa.tensor_tensor(x, x, op=np.add, mask=i > 7)
        nl.store(out, x, mask=False)
        nl.store(out, x)
        return out

    a = random(4, 4)
    assert instructions(str(kernel.trace(a))) == ["nisa.dma_copy", "nisa.dma_copy"]
    assert np.array_equal(kernel(a), a)


# ------------------------------------------------------------------ where results go


def test_a_result_is_computed_where_it_is_assigned() -> None:
    a = random(8, 6)

    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray((8, 12), dtype=a.dtype, buffer=nl.shared_hbm)
        x = nl.load(a)
        y = nl.ndarray((8, 12), dtype=nl.float32)
        p, f = nl.mgrid[0:8, 0:6]
        for i in range(2):
            y[p, 2 * f + i] = nisa.tensor_tensor(x, x, op=np.add)
        nl.store(out, y)
        return out

    assert np.array_equal(kernel(a), np.repeat(a + a, 2, axis=1))
    assert instructions(str(kernel.trace(a))) == [
        "nisa.dma_copy",
        "nisa.tensor_tensor",
        "nisa.tensor_tensor",
        "nisa.dma_copy",
    ]


def test_a_result_that_has_a_name_is_copied() -> None:
    a = random(8, 6)

    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        x = nl.load(a)
        y = nl.ndarray((8, 6), dtype=nl.float32)
        z = nisa.tensor_tensor(x, x, op=np.add)
        y[...] = z
        y[...] = nisa.tensor_tensor(y, z, op=np.add)
        nl.store(out, nisa.tensor_tensor(y, z, op=np.add))
        return out

    assert np.array_equal(kernel(a), 6 * a)
    assert "nisa.tensor_copy" in instructions(str(kernel.trace(a)))


def test_rounding_is_preserved() -> None:
    """Adding in float32 and rounding twice: the copy remains where a type has rounded."""
    a = (np.random.default_rng(3).random((8, 64)) * 100).astype(np.float32)

    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        x = nl.load(a)
        y = nl.ndarray(a.shape, dtype=nl.float32)
        y[...] = nisa.tensor_tensor(x, x, op=np.add, dtype=nl.bfloat16)
        nl.store(out, y)
        return out

    rounded = (a + a).astype(nl.bfloat16).astype(np.float32)
    assert np.array_equal(kernel(a), rounded)


def test_shifting_a_tile_into_itself_reads_before_it_writes() -> None:
    a = random(4, 9)

    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        x = nl.load(a)
        x[:, 1:9] = nisa.tensor_tensor(x[:, 0:8], x[:, 0:8], op=np.add)
        nl.store(out, x)
        return out

    expected = a.copy()
    expected[:, 1:] = a[:, :-1] + a[:, :-1]
    assert np.array_equal(kernel(a), expected)


@pytest.mark.parametrize("steps", [1, 3])
def test_matmuls_accumulate_in_psum_without_a_copy(steps: int) -> None:
    a, b = random(steps * 16, 8) / 100, random(steps * 16, 12) / 100

    @nki.jit
    def kernel(a, b):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray((8, 12), dtype=a.dtype, buffer=nl.shared_hbm)
        total = nl.zeros((8, 12), nl.float32, buffer=nl.psum)
        for k in nl.affine_range(steps):
            x, y = nl.load(a[k * 16 : k * 16 + 16]), nl.load(b[k * 16 : k * 16 + 16])
            total += nisa.nc_matmul(x, y)
        nl.store(out, total)
        return out

    expected = a.astype(np.float64).T @ b
    assert np.allclose(kernel(a, b), expected, rtol=1e-5)
    text = str(kernel.trace(a, b))
    assert text.count("accumulate=false") == 1
    assert text.count("accumulate=true") == steps - 1
    assert "nisa.memset" not in text
    assert "nisa.tensor_tensor" not in text


def test_accumulation_in_parts_of_a_psum_tile() -> None:
    a = random(16, 8) / 100

    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray((8, 16), dtype=a.dtype, buffer=nl.shared_hbm)
        x = nl.load(a)
        total = nl.zeros((8, 16), nl.float32, buffer=nl.psum)
        for half in range(2):
            for _ in range(2):
                total[:, half * 8 : half * 8 + 8] += nisa.nc_matmul(x, x)
        nl.store(out, total)
        return out

    product = a.astype(np.float64).T @ a
    assert np.allclose(kernel(a), 2 * np.hstack([product, product]), rtol=1e-5)


def test_blocks_are_tiles_of_their_own() -> None:
    a = random(3, 2, 8, 5)

    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        tiles = nl.ndarray((3, 2, nl.par_dim(8), 5), dtype=nl.float32)
        p, f = nl.mgrid[0:8, 0:5]
        for i in range(3):
            for j in range(2):
                tiles[i, j] = nl.load(a[i, j])
        for i in range(3):
            for j in range(2):
                nl.store(out[i, j], nisa.tensor_tensor(tiles[i, j, p, f], tiles[i][j], op=np.add))
        return out

    assert np.array_equal(kernel(a), a + a)
    assert str(kernel.trace(a)).count("nki.alloc : memref<8x5xf32, #nki.sbuf>") == 12


@pytest.mark.parametrize("value", [2.5, 3])
def test_numbers_fill_single_elements_anywhere(value: float) -> None:
    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray((5, 4), dtype=nl.float32, buffer=nl.shared_hbm)
        x = nl.load(a)
        x[3, 2] = value
        x[1:3] = 0
        nl.store(out, x)
        return out

    a = random(5, 4)
    expected = a.copy()
    expected[3, 2] = value
    expected[1:3] = 0
    assert np.array_equal(kernel(a), expected)


def test_indirect_rows_of_any_dimension() -> None:
    a, rows = random(4, 10, 6), np.array([7, 0, 3], dtype=np.int32)

    @nki.jit
    def kernel(a, rows):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray((3, 6), dtype=a.dtype, buffer=nl.shared_hbm)
        p, f = nl.arange(3)[:, None], nl.arange(6)[None, :]
        chosen = nl.load(rows[p])
        nl.store(out, nl.load(a[2, chosen[p, 0], f]))
        return out

    assert np.array_equal(kernel(a, rows), a[2, rows])


@pytest.mark.parametrize("given", [False, True])
def test_an_optional_parameter_that_is_given_counts_as_true(given: bool) -> None:
    @nki.jit
    def kernel(a, b=None):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load(b) if b else nl.load(a))
        return out

    a, b = random(4, 4), np.zeros((4, 4), np.float32)
    arguments = (a, b) if given else (a,)
    assert np.array_equal(kernel(*arguments), b if given else a)
    rules = [d.rule.id for d in kernel.trace(*arguments).diagnostics]
    assert rules == (["parameter-truth-value"] if given else [])


def test_a_tensor_counts_as_true() -> None:
    @nki.jit
    def kernel(a, other=None):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        tile = nl.load(a)
        if tile and tile[0:1, 0:1]:
            tile = nl.multiply(tile, 2)
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        nl.store(out, tile or other)
        return out

    a = random(4, 4)
    assert np.array_equal(kernel(a), a * 2)
    found = [d for d in kernel.trace(a).diagnostics if d.rule.id == "truth-value"]
    assert len({d.where[0].line for d in found}) == 2


def test_ranges_are_slices() -> None:
    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        blocks = nl.zeros((2, nl.par_dim(4), 6), a.dtype)
        blocks[nl.affine_range(2)][0] = nl.load(a[nl.affine_range(4), nl.sequential_range(6)])
        blocks[1, range(0, 4), nl.static_range(0, 6, 2)] = nl.load(a[4:8, range(3)])
        out = nl.ndarray((2, 4, 6), dtype=a.dtype, buffer=nl.shared_hbm)
        for i in nl.affine_range(2):
            nl.store(out[i], blocks[i])
        return out

    a, expected = random(8, 6), np.zeros((2, 4, 6), np.float32)
    expected[0] = a[0:4]
    expected[1, :, ::2] = a[4:8, :3]
    assert np.array_equal(kernel(a), expected)


def test_dimensions_of_size_one_do_not_matter_in_assignments() -> None:
    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray((2, 1, 4, 3), dtype=a.dtype, buffer=nl.shared_hbm)
        for i in range(2):
            x = nl.ndarray((4, 1, 3), dtype=a.dtype)
            x[...] = nl.load(a[i])
            nl.store(out[i], x)
        return out

    a = random(2, 4, 3)
    assert np.array_equal(kernel(a), a[:, None])


# ------------------------------------------------------------------ errors

p4, f4 = nl.arange(4)[:, None], nl.arange(4)[None, :]

BAD: list[tuple[str, Callable[[Any], Any]]] = [
    ("err_unsupported_mixing_basic_advanced_tensor_indexing", lambda t: t[p4, :]),
    ("err_unsupported_mixing_basic_advanced_tensor_indexing", lambda t: t[p4]),
    ("err_unsupported_mixing_basic_advanced_tensor_indexing", lambda t: t[p4, "x"]),
    ("err_unsupported_mixing_basic_advanced_tensor_indexing", lambda t: t[p4, True]),
    ("err_1d_arange_not_supported", lambda t: t[nl.arange(4), 0]),
    ("err_tensor_access_out_of_bound", lambda t: nisa.tensor_tensor(t[p4 + 1, f4], t, op=np.add)),
    ("err_tensor_access_out_of_bound", lambda t: nisa.tensor_tensor(t[p4, f4 - 1], t, op=np.add)),
    ("err_tensor_access_out_of_bound", lambda t: t[p4, nl.arange(3)[None, None, :, None]]),
    (
        "err_failed_to_infer_tile_from_local_tensor",
        lambda t: nisa.tensor_tensor(t[f4, p4], t, op=np.add),
    ),
    ("view", lambda t: t.view("float99")),
    ("err_indirect_indices_free_dim", lambda t: t[t, t]),
    ("err_indirect_indices_free_dim", lambda t: nisa.tensor_tensor(t[t, f4], t, op=np.add)),
    ("err_store_dst_shape_smaller_than_other_shape", lambda t: t.__setitem__((0, 0), t)),
    ("err_ambiguous_tensor_truth_value", lambda t: bool(t > 0)),
    ("err_dynamic_control_flow_not_supported", lambda t: bool(t[0:1, 0:1] > 0)),
    ("err_unsupported_memory", lambda t: nl.load(t)),
    ("err_unsupported_memory", lambda t: nl.store(t, t)),
]


@pytest.mark.parametrize(("rule", "body"), BAD)
def test_wrong_indices_name_the_error(rule: str, body: Callable[[Any], Any]) -> None:
    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        body(nl.load(a))
        return a

    with pytest.raises(NkiValidationError, match=rule):
        kernel.trace(random(4, 4))


def test_an_index_beyond_its_tensor_is_reported_by_its_flat_position() -> None:
    """As the vendor's simulation says it: the element, and how many there are."""

    @nki.jit
    def kernel(a, rows):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray((3, 6), dtype=a.dtype, buffer=nl.shared_hbm)
        p, f = nl.arange(3)[:, None], nl.arange(6)[None, :]
        nl.store(out, nl.load(a[2, nl.load(rows[p]), f]))
        return out

    with pytest.raises(IndexError) as error:
        kernel(random(4, 10, 6), np.array([7, 11, 3], dtype=np.int32))
    assert str(error.value) == "index 66 is out of bounds for axis 0 with size 60"
    assert "[1, 0] is 11; 1 of 3 is out of 0 to 9" in error.value.__notes__[0]
