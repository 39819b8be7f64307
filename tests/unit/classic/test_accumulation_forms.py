"""Ways in which published kernels reduce and accumulate."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from support.compiled_runs import check
from support.well_formed import check_dominance, check_text

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl
from nkijit.passes.diagnostics.errors import NkiValidationError

RNG = np.random.default_rng(5)


def random(*shape: int) -> Any:
    return RNG.normal(size=shape).astype(np.float32)


def instructions(kernel: Any, *arrays: Any) -> list[str]:
    text = str(kernel.trace(*arrays))
    return [line.split()[0] for line in text.split("\n") if line.strip().startswith("nisa.")]


# ------------------------------------------------------------------ tensor_reduce


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(
    "axis", [axes for n in (1, 2, 3) for axes in itertools.combinations((1, 2, 3), n)]
)
@pytest.mark.parametrize(("word", "oracle"), [(np.add, np.sum), (np.max, np.max)])
def test_a_reduction_over_any_free_dimensions(
    axis: tuple[int, ...], keepdims: bool, word: Any, oracle: Any
) -> None:
    x = random(16, 3, 4, 5)
    expected = oracle(x, axis=axis, keepdims=keepdims)
    shape = expected.shape if expected.ndim > 1 else (16, 1)

    @nki.jit
    def kernel(x: Any) -> Any:
        result = nisa.tensor_reduce(word, nl.load(x), axis=list(axis), keepdims=keepdims)
        out = nl.ndarray(shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, result)
        return out

    assert np.allclose(kernel(x), expected.reshape(shape), rtol=1e-5, atol=1e-5)
    assert instructions(kernel, x).count("nisa.tensor_reduce") == 1


def test_a_reduction_over_a_middle_dimension_under_a_mask() -> None:
    x = random(16, 6, 5)

    @nki.jit
    def kernel(x: Any) -> Any:
        tile = nl.load(x)
        i_p, i_a, i_b = nl.mgrid[0:16, 0:6, 0:5]
        result = nisa.tensor_reduce(np.add, tile[i_p, i_a, i_b], axis=1, negate=True, mask=i_a < 4)
        out = nl.ndarray((16, 5), dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, result)
        return out

    assert np.allclose(kernel(x), -x[:, :4].sum(1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("axis", [0, (0, 1), 3, (1, 1), -4])
def test_axes_that_no_reduction_has(axis: Any) -> None:
    @nki.jit
    def kernel(x: Any) -> Any:
        nisa.tensor_reduce(np.add, nl.load(x), axis=axis)
        return x

    with pytest.raises(NkiValidationError, match="axis is"):
        kernel.trace(random(16, 6, 5))


# ------------------------------------------------------------------ loop_reduce


def test_the_first_iteration_of_a_loop_reduction_stores() -> None:
    x = random(4, 64, 32)

    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray((64, 32), dtype=x.dtype, buffer=nl.shared_hbm)
        total = nl.ndarray((64, 32), dtype=nl.float32, buffer=nl.sbuf)
        halves = nl.ndarray((2, nl.par_dim(64), 32), dtype=nl.float32, buffer=nl.sbuf)
        for i in nl.affine_range(4):
            tile = nl.load(x[i])
            total[...] = nl.loop_reduce(tile, op=np.multiply, loop_indices=[i])
            halves[i % 2] = nl.loop_reduce(tile, op=np.maximum, loop_indices=[i])
        nl.store(out, nl.add(total, nl.add(halves[0], halves[1])))
        return out

    expected = x.prod(0) + x[0::2].max(0) + x[1::2].max(0)
    assert np.allclose(kernel(x), expected, rtol=1e-5, atol=1e-5)
    assert not kernel.trace(x).diagnostics.errors


# ------------------------------------------------------------------ accumulation in PSUM


def product(a: Any, b: Any) -> Any:
    return a.astype(np.float64).T @ b


@pytest.mark.parametrize("reads", [1, 3])
def test_zeros_that_were_read_are_a_beginning(reads: int) -> None:
    a, b = random(64, 32), random(64, 16)

    @nki.jit
    def kernel(a: Any, b: Any) -> Any:
        x, y = nl.load(a), nl.load(b)
        zeros = nl.ndarray((32, 16), np.float32, buffer=nl.shared_hbm)
        out = nl.ndarray((32, 16), np.float32, buffer=nl.shared_hbm)
        psum = nl.zeros((32, 16), np.float32, buffer=nl.psum)
        for _ in range(reads):
            nl.store(zeros, psum)
        for _ in range(2):
            psum += nisa.nc_matmul(x, y)
        nl.store(out, psum)
        return zeros, out

    zeros, out = kernel(a, b)
    assert not zeros.any()
    assert np.allclose(out, 2 * product(a, b), rtol=1e-4, atol=1e-4)
    assert not kernel.trace(a, b).diagnostics.errors


def test_numbers_that_were_read_stay() -> None:
    a, b = random(64, 32), random(64, 16)

    @nki.jit
    def kernel(a: Any, b: Any) -> Any:
        out = nl.ndarray((32, 16), np.float32, buffer=nl.shared_hbm)
        tile = nl.zeros((32, 16), np.float32, buffer=nl.psum)
        tile[0:32, 0:8] = 3.0
        total = nl.add(tile, nisa.nc_matmul(nl.load(a), nl.load(b)))
        nl.store(out, total)
        return out

    expected = product(a, b)
    expected[:, 0:8] += 3
    assert np.allclose(kernel(a, b), expected, rtol=1e-4, atol=1e-4)


def test_a_product_with_a_name_that_is_only_added_is_one_accumulation() -> None:
    a, b = random(64, 32), random(64, 16)

    @nki.jit
    def named(a: Any, b: Any) -> Any:
        x, y = nl.load(a), nl.load(b)
        out = nl.ndarray((32, 16), np.float32, buffer=nl.shared_hbm)
        psum = nl.zeros((32, 16), np.float32, buffer=nl.psum)
        for _ in range(3):
            part = nisa.nc_matmul(x, y)
            psum += part
        nl.store(out, psum)
        return out

    @nki.jit
    def at_once(a: Any, b: Any) -> Any:
        x, y = nl.load(a), nl.load(b)
        out = nl.ndarray((32, 16), np.float32, buffer=nl.shared_hbm)
        psum = nl.zeros((32, 16), np.float32, buffer=nl.psum)
        for _ in range(3):
            psum += nisa.nc_matmul(x, y)
        nl.store(out, psum)
        return out

    assert str(named.trace(a, b)) == str(at_once.trace(a, b)).replace("@at_once", "@named")
    assert np.allclose(named(a, b), 3 * product(a, b), rtol=1e-4, atol=1e-4)


def test_a_product_that_something_else_uses_is_kept() -> None:
    a, b = random(64, 32), random(64, 16)
    wanted = product(a, b)

    def run(kernel: Any, *numbers: float) -> None:
        results = nki.jit(kernel)(a, b)
        for result, number in zip(results, numbers, strict=True):
            assert np.allclose(result, number * wanted, rtol=1e-4, atol=1e-4)

    def stores(*tiles: Any) -> Any:
        outs = []
        for tile in tiles:
            out = nl.ndarray((32, 16), np.float32, buffer=nl.shared_hbm)
            nl.store(out, tile)
            outs.append(out)
        return tuple(outs)

    def read_later(a: Any, b: Any) -> Any:
        x, y = nl.load(a), nl.load(b)
        psum = nl.zeros((32, 16), np.float32, buffer=nl.psum)
        part = nisa.nc_matmul(x, y)
        psum += part
        psum += part
        return stores(psum, part)

    def made_once(a: Any, b: Any) -> Any:
        x, y = nl.load(a), nl.load(b)
        psum = nl.zeros((32, 16), np.float32, buffer=nl.psum)
        for i in nl.static_range(3):
            if i == 0:
                part = nisa.nc_matmul(x, y)
            psum += part
        return stores(psum)

    def in_a_closure(a: Any, b: Any) -> Any:
        x, y = nl.load(a), nl.load(b)
        psum = nl.zeros((32, 16), np.float32, buffer=nl.psum)
        part = nisa.nc_matmul(x, y)
        again = lambda: part  # noqa: E731
        psum += part
        return stores(psum, again())

    def before_the_loop(a: Any, b: Any) -> Any:
        x, y = nl.load(a), nl.load(b)
        psum = nl.zeros((32, 16), np.float32, buffer=nl.psum)
        part = nisa.nc_matmul(x, y)
        for _ in range(3):
            psum += part
        return stores(psum)

    run(read_later, 2, 1)
    run(made_once, 3)
    run(in_a_closure, 1, 1)
    run(before_the_loop, 3)


# ------------------------------------------------------------------ parts of wider tiles


def _slice(acc: Any, product: Callable[..., Any]) -> None:
    acc[:, 8:24] += product()


def _rows(acc: Any, product: Callable[..., Any]) -> None:
    acc[0:32, 8:24] += product()


def _dynamic_slice(acc: Any, product: Callable[..., Any]) -> None:
    acc[:, nl.ds(8, 16)] += product()


def _arange(acc: Any, product: Callable[..., Any]) -> None:
    acc[nl.arange(32)[:, None], 8 + nl.arange(16)[None, :]] += product()


def _mgrid(acc: Any, product: Callable[..., Any]) -> None:
    p, f = nl.mgrid[0:32, 0:16]
    acc[p, f + 8] += product()


def _every_second(acc: Any, product: Callable[..., Any]) -> None:
    acc[nl.arange(32)[:, None], 2 * nl.arange(16)[None, :]] += product()


def _column(acc: Any, product: Callable[..., Any]) -> None:
    for column in range(3):
        acc[:, column, :] += product()


def _masked_rows(acc: Any, product: Callable[..., Any]) -> None:
    acc[:, 8:24] += product(mask=nl.arange(32)[:, None] < 20)


def _masked_columns(acc: Any, product: Callable[..., Any]) -> None:
    acc[...] += product(mask=nl.arange(16)[None, :] < 5)


def _named(acc: Any, product: Callable[..., Any]) -> None:
    part = product()
    acc[:, 8:24] += part


def _assigned(acc: Any, product: Callable[..., Any]) -> None:
    acc[:, 8:24] = product()


def _subtracted(acc: Any, product: Callable[..., Any]) -> None:
    acc[:, 8:24] -= product()


PARTS: list[tuple[Callable[..., None], tuple[int, ...], Any, float]] = [
    (_slice, (32, 32), np.s_[:, 8:24], 3),
    (_rows, (32, 32), np.s_[:, 8:24], 3),
    (_dynamic_slice, (32, 32), np.s_[:, 8:24], 3),
    (_arange, (32, 32), np.s_[:, 8:24], 3),
    (_mgrid, (32, 32), np.s_[:, 8:24], 3),
    (_every_second, (32, 32), np.s_[:, ::2], 3),
    (_column, (32, 3, 16), np.s_[:, :, None], 3),
    (_masked_rows, (32, 32), np.s_[:20, 8:24], 3),
    (_masked_columns, (32, 16), np.s_[:, :5], 3),
    (_named, (32, 32), np.s_[:, 8:24], 3),
    (_assigned, (32, 32), np.s_[:, 8:24], 1),
    (_subtracted, (32, 32), np.s_[:, 8:24], -3),
]
"""Statements on a part of an accumulator, the accumulator's shape, the part for NumPy, and the
factor of the product that three such statements compute."""


@pytest.mark.parametrize("multiply", ["nl.matmul", "nisa.nc_matmul"])
@pytest.mark.parametrize(("statement", "shape", "part", "times"), PARTS)
def test_products_added_to_part_of_a_wider_tile(
    statement: Callable[..., None],
    shape: tuple[int, ...],
    part: Any,
    times: float,
    multiply: str,
) -> None:
    a, b = random(64, 32), random(64, 16)

    def multiplied(x: Any, y: Any, mask: Any = None) -> Any:
        if multiply == "nl.matmul":
            return nl.matmul(x, y, transpose_x=True, mask=mask)
        return nisa.nc_matmul(x, y, mask=mask)

    @nki.jit
    def kernel(a: Any, b: Any) -> Any:
        out = nl.ndarray(shape, np.float32, buffer=nl.shared_hbm)
        acc = nl.zeros(shape, np.float32, buffer=nl.psum)
        for _ in nl.affine_range(3):
            statement(acc, partial(multiplied, nl.load(a), nl.load(b)))
        nl.store(out, nl.copy(acc))
        return out

    traced = kernel.trace(a, b)
    check_dominance(traced.module)
    check_text(traced)
    expected = np.zeros(shape)
    rows = expected[part]
    added = product(a, b)
    if rows.ndim > 2:
        added = added[:, None, None, :]
    expected[part] = times * added[tuple(slice(n) for n in rows.shape[:2])]
    assert np.allclose(kernel(a, b), expected, rtol=1e-4, atol=1e-4)
    check(traced, [a, b], range(2))


@pytest.mark.parametrize("accumulates", [False, True])
def test_a_destination_that_is_allocated_after_the_result(accumulates: bool) -> None:
    """Python evaluates the right side of an assignment before the destination."""
    a, b = random(64, 32), random(64, 16)

    @nki.jit
    def kernel(a: Any, b: Any) -> Any:
        x, y = nl.load(a), nl.load(b)
        tiles: list[Any] = []

        def new() -> Any:
            tiles.append(nl.ndarray((32, 48), np.float32, buffer=nl.psum))
            return tiles[0]

        out = nl.ndarray((32, 16), np.float32, buffer=nl.shared_hbm)
        new()[:, 16:32] = nisa.nc_matmul(x, y)
        if accumulates:
            tiles[0][:, 16:32] += nisa.nc_matmul(x, y)
        nl.store(out, tiles[0][:, 16:32])
        return out

    traced = kernel.trace(a, b)
    check_dominance(traced.module)
    check_text(traced)
    assert np.allclose(kernel(a, b), (1 + accumulates) * product(a, b), rtol=1e-4, atol=1e-4)


# ------------------------------------------------------------------ lazy initial values


def test_lazy_zeros_are_written_at_the_first_use() -> None:
    x = random(64, 32)

    @nki.jit
    def kernel(x: Any) -> Any:
        total = nl.zeros((64, 32), np.float32, lazy_initialization=True)
        out = nl.ndarray((64, 32), np.float32, buffer=nl.shared_hbm)
        tile = nl.load(x)
        doubled = nl.multiply(tile, 2.0)
        total[0:64, 0:16] = nl.add(total[0:64, 0:16], doubled[0:64, 0:16])
        nl.store(out, total)
        return out

    expected = np.zeros((64, 32), np.float32)
    expected[:, :16] = 2 * x[:, :16]
    assert np.array_equal(kernel(x), expected)
    made = instructions(kernel, x)
    assert made.index("nisa.memset") > made.index("nisa.dma_copy")
    assert made.index("nisa.memset") == made.index("nisa.tensor_tensor") - 1


@pytest.mark.parametrize("lazy", [False, True])
def test_lazy_zeros_that_are_overwritten_are_not_written(lazy: bool) -> None:
    x = random(4, 64, 32)

    @nki.jit
    def kernel(x: Any) -> Any:
        wide = nl.zeros((64, 128), np.float32, lazy_initialization=lazy)
        out = nl.ndarray((64, 128), np.float32, buffer=nl.shared_hbm)
        for i in nl.affine_range(4):
            wide[0:64, i * 32 : (i + 1) * 32] = nl.load(x[i])
        nl.store(out, wide)
        return out

    assert np.array_equal(kernel(x), np.concatenate(x, axis=1))
    assert ("nisa.memset" in instructions(kernel, x)) is not lazy


def test_lazy_values_stay_where_only_a_part_is_overwritten() -> None:
    x = random(64, 32)

    @nki.jit
    def kernel(x: Any, rows: int) -> Any:
        tile = nl.full((64, 32), 7.0, np.float32, lazy_initialization=True)
        unused = nl.zeros((64, 32), np.float32, lazy_initialization=True)
        i_p, i_f = nl.mgrid[0:64, 0:32]
        tile[i_p, i_f] = nl.load(x[i_p, i_f], mask=i_p < rows)
        out = nl.ndarray((64, 32), np.float32, buffer=nl.shared_hbm)
        nl.store(out, tile)
        del unused
        return out

    expected = np.full((64, 32), 7.0, np.float32)
    expected[:40] = x[:40]
    assert np.array_equal(kernel(x, 40), expected)
    assert instructions(kernel, x, 40).count("nisa.memset") == 1
    assert np.array_equal(kernel(x, 64), x)


def test_lazy_zeros_in_psum_begin_an_accumulation() -> None:
    a, b = random(64, 32), random(64, 16)

    @nki.jit
    def kernel(a: Any, b: Any) -> Any:
        x, y = nl.load(a), nl.load(b)
        psum = nl.zeros((32, 16), np.float32, buffer=nl.psum, lazy_initialization=True)
        out = nl.ndarray((32, 16), np.float32, buffer=nl.shared_hbm)
        for _ in nl.affine_range(2):
            psum += nisa.nc_matmul(x, y)
        nl.store(out, psum)
        return out

    assert np.allclose(kernel(a, b), 2 * product(a, b), rtol=1e-4, atol=1e-4)
    assert "nisa.memset" not in instructions(kernel, a, b)
