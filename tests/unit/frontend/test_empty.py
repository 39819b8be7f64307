"""Slices without elements, in both APIs: shapes are those of NumPy, and instructions vanish."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.classic as classic
import nkijit.classic.isa as cisa
import nkijit.classic.language as cl
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.isa import NkiValidationError

X = np.arange(128 * 8, dtype=np.float32).reshape(128, 8)


def _current(use: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """Trace a kernel that copies its argument; returns the trace and the result of `use`."""
    seen: list[Any] = []

    @nki.jit
    def kernel(x: Any) -> Any:
        tile = nl.load(x)
        seen.append(use(x, tile))
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, tile)
        return out

    return kernel.trace(X), seen[0]


def _classic(use: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    seen: list[Any] = []

    @classic.jit
    def kernel(x: Any) -> Any:
        tile = cl.load(x)
        seen.append(use(x, tile))
        out = cl.ndarray(x.shape, dtype=x.dtype, buffer=cl.shared_hbm)
        cl.store(out, tile)
        return out

    return kernel.trace(X), seen[0]


def _instructions(traced: Any) -> list[str]:
    lines = traced.text().splitlines()
    return [line.split()[0] for line in lines if line.strip().startswith("nisa.")]


VIEWS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "columns": (lambda t: t[:, 5:5], X[:, 5:5].shape),
    "rows": (lambda t: t[0:0], X[0:0].shape),
    "the end": (lambda t: t[:, 8:], X[:, 8:].shape),
    "negative": (lambda t: t[:, -3:-3], X[:, -3:-3].shape),
    "step": (lambda t: t[:, 2:2:2], X[:, 2:2:2].shape),
    "of an empty slice": (lambda t: t[:, 5:5][:, 0:0], X[:, 5:5][:, 0:0].shape),
    "reshaped": (lambda t: t[:, 5:5].reshape((128, 0, 4)), X[:, 5:5].reshape(128, 0, 4).shape),
    "inferred": (lambda t: t[:, 5:5].reshape((128, 4, -1)), X[:, 5:5].reshape(128, 4, 0).shape),
}


@pytest.mark.parametrize("on_chip", [True, False])
@pytest.mark.parametrize("make", [_current, _classic])
@pytest.mark.parametrize("case", VIEWS.values(), ids=VIEWS)
def test_views_have_numpys_shapes(
    case: tuple[Callable[[Any], Any], tuple[int, ...]], make: Any, on_chip: bool
) -> None:
    view, shape = case

    def use(x: Any, t: Any) -> tuple[int, ...]:
        return view(t if on_chip else x).shape

    traced, seen = make(use)
    assert tuple(seen) == shape
    assert not traced.diagnostics  # a view alone is no instruction


def test_the_views_of_dynamic_slices_and_ranges() -> None:
    def use(x: Any, t: Any) -> list[tuple[int, ...]]:
        return [t[:, nl.ds(3, 0)].shape, x[nl.ds(0, 0)].shape, t[:, range(4, 4)].shape]

    assert _current(use)[1] == [(128, 0), (0, 8), (128, 0)]


def _in_current(x: Any, t: Any) -> list[Any]:
    empty = t[:, 3:3]
    nisa.memset(empty, 1.0)
    nisa.tensor_copy(empty, t[:, 0:0])
    nisa.tensor_scalar(empty, empty, nl.add, t[:, 0:1])
    nisa.dma_copy(x[0:0], t[5:5])
    nisa.nc_matmul(nl.ndarray((8, 0), nl.float32, buffer=nl.psum), t, empty)
    t[:, 2:2] = 0.0
    t[:, 2:2] = empty
    return [nl.exp(empty), nl.add(empty, t[:, 0:1]), nl.load(x[:, 1:1]), nl.zeros((0, 4), nl.int32)]


def _in_classic(x: Any, t: Any) -> list[Any]:
    p, nothing = cl.arange(128)[:, None], cl.arange(0)[None, :]
    empty = t[p, nothing]
    t[:, 2:2] = 0.0
    t[:, 2:2] += t[:, 3:3]
    cl.store(x[0:0], t[0:0])
    cisa.nc_matmul(t, empty)
    hbm = cl.ndarray((0, 4), cl.int32, buffer=cl.shared_hbm)
    return [cl.exp(empty), empty * 2 + 1, cl.load(x[cl.mgrid[0:128, 0:0]]), hbm]


@pytest.mark.parametrize(
    ("make", "use"), [(_current, _in_current), (_classic, _in_classic)], ids=["current", "classic"]
)
def test_instructions_on_nothing_vanish(make: Any, use: Any) -> None:
    traced, results = make(use)
    nothing = X[:, 3:3]
    shapes = [np.exp(nothing).shape, (nothing + X[:, 0:1]).shape, X[:, 1:1].shape, (0, 4)]
    assert [tuple(result.shape) for result in results] == shapes
    assert _instructions(traced) == ["nisa.dma_copy", "nisa.dma_copy"]
    rules = {finding.rule.id for finding in traced.diagnostics}
    assert rules == {"empty-slice"}
    assert not traced.diagnostics.errors
    np.testing.assert_array_equal(traced.run(X), X)


def _reduced(x: Any, t: Any) -> None:
    nisa.tensor_reduce(t[:, 0:1], nl.maximum, t[:, 3:3], axis=1)


def _contracted(x: Any, t: Any) -> None:
    nisa.nc_matmul(nl.ndarray((8, 8), nl.float32, buffer=nl.psum), t[0:0], t[0:0])


def _shifted(x: Any, t: Any) -> None:
    nisa.tensor_scalar(t, t, nl.add, t[:, 3:3])


def _of_other_shape(x: Any, t: Any) -> None:
    nisa.dma_copy(t[0:0], x[0:4])


def _printed(x: Any, t: Any) -> None:
    nl.device_print("t", t[:, 3:3])


@pytest.mark.parametrize("use", [_reduced, _contracted, _shifted, _of_other_shape, _printed])
def test_results_that_nothing_would_write_are_errors(use: Any) -> None:
    with pytest.raises(NkiValidationError) as caught:
        _current(use)[0].verify()
    assert caught.value.diagnostics[0].rule.id == "empty-operand"
    assert caught.value.diagnostics[0].where[0].file == __file__


def _beyond_the_columns(i: Any, j: Any) -> Any:
    return j > 8


def _before_the_rows(i: Any, j: Any) -> Any:
    return (i < 0) & (j < 4)


@pytest.mark.parametrize("mask", [_beyond_the_columns, _before_the_rows])
def test_a_mask_that_holds_nowhere_is_noted(mask: Any) -> None:
    def use(x: Any, t: Any) -> None:
        i, j = cl.mgrid[0:128, 0:8]
        t[i, j] = cl.exp(t[i, j], mask=mask(i, j))

    traced, _ = _classic(use)
    (found,) = traced.diagnostics
    assert found.message == "'mask' holds nowhere in (128, 8), so the instruction is left out"
    np.testing.assert_array_equal(traced.run(X), X)
