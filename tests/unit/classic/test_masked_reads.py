"""Masked elements of a tile are undefined: computing on them is silent, using them is reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nkijit
import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl

Array = np.ndarray[Any, Any]


def rules(traced: nkijit.TracedKernel) -> list[tuple[str, str]]:
    """Ids and severities of findings about memory that nothing has written."""
    found = [(d.rule.id, d.severity) for d in traced.diagnostics]
    return [
        finding
        for finding in found
        if finding[0] in ("read-masked", "read-unwritten", "undefined-use")
    ]


@pytest.mark.parametrize("assigned", [False, True])
def test_masks_on_load_and_store_are_enough(assigned: bool, tmp_path: Path) -> None:
    """A common form: intermediate instructions also compute on undefined elements."""

    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        p, f = nl.mgrid[0:64, 0:16]
        for i in range(2):
            inside = i * 64 + p < 100
            if assigned:
                x = nl.ndarray((64, 16), dtype=a.dtype)
                x[p, f] = nl.load(a[i * 64 + p, f], mask=inside)
            else:
                x = nl.load(a[i * 64 + p, f], mask=inside)
            nl.store(out[i * 64 + p, f], nisa.tensor_scalar(x, np.add, 1.0), mask=inside)
        return out

    a = np.random.default_rng(0).random((100, 16)).astype(np.float32)
    assert np.array_equal(kernel(a), a + 1)
    traced = kernel.trace(a)
    assert rules(traced) == []  # nothing of it leaves the kernel
    assert "{masked}" in str(traced)
    # The IR says so by itself.
    path = tmp_path / "kernel.mlir"
    path.write_text(str(traced))
    again = nkijit.load(path)
    assert rules(again) == []
    assert np.array_equal(again.run(a), a + 1)


def test_results_that_depend_on_it_are_nan() -> None:
    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray((8, 1), dtype=a.dtype, buffer=nl.shared_hbm)
        p, f = nl.mgrid[0:8, 0:16]
        x = nl.load(a[p, f], mask=f < 10)
        nl.store(out, nisa.tensor_reduce(np.add, x, axis=[1]))
        return out

    a = np.ones((8, 16), np.float32)
    assert np.isnan(kernel(a)).all()
    assert ("read-masked", "warning") in rules(kernel.trace(a))


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("form", ["result", "assigned", "copied", "in-place", "hbm"])
def test_a_mask_that_leaves_nothing_of_a_block(form: str, used: bool) -> None:
    """The second block is outside of the tensor: its tile is read, but of no use."""

    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray((2, 16, 64), dtype=a.dtype, buffer=nl.shared_hbm)
        p, f = nl.mgrid[0:64, 0:16]
        i, j = nl.mgrid[0:16, 0:64]
        for block in range(2):
            nl.store(out[block], 0)
            inside = block * 64 + p < 50
            rows = a[block * 64 + p, f]
            if form == "hbm":
                x = nl.ndarray((64, 16), dtype=a.dtype, buffer=nl.hbm)
                nl.store(x[p, f], nl.load(rows, mask=inside), mask=inside)
                x = nl.load(x)
            elif form == "result":
                x = nl.load(rows, mask=inside)
            else:
                x = nl.ndarray((64, 16), dtype=a.dtype, buffer=nl.sbuf)
                if form == "in-place":
                    nisa.dma_copy(dst=x[p, f], src=rows, mask=inside)
                elif form == "copied":
                    x[p, f] = nl.copy(nl.load(rows, mask=inside), mask=inside)
                else:
                    x[p, f] = nl.load(rows, mask=inside)
            stored = block * 64 + j < (100 if used else 50)
            nl.store(out[block, i, j], nl.transpose(x), mask=stored)
        return out

    a = np.random.default_rng(0).random((50, 16)).astype(np.float32)
    traced = kernel.trace(a)
    if used:
        assert {rule for rule, _ in rules(traced)} & {"read-masked", "undefined-use"}
        return
    assert rules(traced) == []
    assert "unused-tile" not in [d.rule.id for d in traced.diagnostics]
    expected = np.zeros((2, 16, 64), np.float32)
    expected[0, :, :50] = a.T
    for sanitize in (False, True):
        assert np.array_equal(traced.run(a, sanitize=sanitize), expected)


def test_unwritten_elements_without_a_mask_are_an_error() -> None:
    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray((8, 16), dtype=a.dtype, buffer=nl.shared_hbm)
        x = nl.ndarray((8, 16), dtype=a.dtype)
        x[0:8, 0:8] = nl.load(a[0:8, 0:8])
        nl.store(out, nisa.tensor_scalar(x, np.add, 1.0))
        return out

    with pytest.raises(nkijit.NkiValidationError, match="undefined-use"):
        kernel(np.ones((8, 16), np.float32))
