"""Suspicious findings: warnings of calls, and `NKIJIT_DENY`."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

X = np.arange(4 * 128 * 64, dtype=np.float32).reshape(4, 128, 64) % 7


@nki.jit
def last(x):
    """Stores the last part of `x` only: a suspicious finding, and a small DMA."""
    out = nl.ndarray(x.shape[1:], x.dtype, buffer=nl.shared_hbm)
    for i in range(x.shape[0]):
        nisa.dma_copy(dst=out, src=x[i])
    return out


@nki.jit
def small(x):
    """Advice only: a small DMA."""
    out = nl.ndarray((128, 64), x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 64), x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile[:, ::2], src=x[0, :, ::2])
    nisa.dma_copy(dst=tile[:, 1::2], src=x[0, :, 1::2])
    nisa.dma_copy(dst=out, src=tile)
    return out


def test_the_first_call_warns_at_the_line_of_the_kernel():
    with pytest.warns(nki.NkiWarning, match=r"3 of 4 results are lost") as caught:
        result = last(X)
    assert [(w.filename, w.lineno) for w in caught] == [(__file__, 22)]
    np.testing.assert_array_equal(result, X[3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(last(X), X[3])


def test_advice_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(small(X), X[0])
    assert {d.rule.id for d in small.trace(X).diagnostics} == {"small-dma"}


@pytest.mark.parametrize(
    ("denied", "stopped"),
    [
        ("", set()),
        ("suspicious", {last}),
        ("advice", {small}),
        ("small-dma", {small}),
        ("overwritten-result", {last}),
        ("table-reload, small-dma", {small}),
        ("warnings", {last, small}),
        ("portability", set()),
    ],
)
@pytest.mark.parametrize("kernel", [last, small])
def test_denied_warnings_stop(kernel, denied, stopped, monkeypatch):
    monkeypatch.setenv("NKIJIT_DENY", denied)
    traced = kernel.trace(X)
    for run in (lambda: kernel(X), lambda: traced.run(X), traced.profile):
        if kernel in stopped:
            with pytest.raises(nki.NkiValidationError) as caught:
                run()
            assert caught.value.diagnostics.errors >= 1
        else:
            run()


def test_an_unknown_selector_is_an_error(monkeypatch):
    monkeypatch.setenv("NKIJIT_DENY", "suspicius")
    with pytest.raises(ValueError, match=r"NKIJIT_DENY: there is no warning 'suspicius'.*did you"):
        last(X)


def test_a_sweep_prefers_variants_without_doubt():
    @nki.jit
    def kernel(x, keep=True):
        out = nl.ndarray(x.shape[1:], nl.float32, buffer=nl.shared_hbm)
        total = nl.load(x[0])
        for i in range(1, x.shape[0]):
            tile = nl.load(x[i])
            if keep:
                nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
            else:
                nisa.tensor_copy(dst=total, src=tile)
        nisa.dma_copy(dst=out, src=total)
        return out

    found = nki.sweep(kernel, {"keep": [True, False]}, arguments={"x": X}, workers=1)
    best = found.best
    assert best is not None
    assert best.point == {"keep": True}
    fast = next(variant for variant in found.variants if not variant.point["keep"])
    assert fast.is_valid
    assert found.doubts(fast) == {"overwritten-result"}
    assert found.results[-1] is fast
    assert "overwritten-result" in str(found)
