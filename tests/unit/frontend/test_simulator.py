"""`nki.simulate` and NKI_SIMULATOR=1: documented properties of the vendor's simulator hold."""

from __future__ import annotations

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

X = np.arange(128 * 8, dtype=np.float32).reshape(128, 8)


@nki.jit
def identity(x):
    return x


@nki.jit
def overwrite(x):
    nl.store(x, nl.full(x.shape, 7, x.dtype))


@nki.jit
def unwritten(x, dtype):
    """Returns a tile that nothing writes, which verification cannot know."""
    out = nl.ndarray(x.shape, dtype=dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=dtype, buffer=nl.sbuf)
    count = nisa.register_alloc()
    nisa.register_load(count, nl.zeros((1, 1), nl.int32))
    for _ in nl.dynamic_range(count):
        nisa.memset(dst=tile, value=0)
    nl.store(out, tile)
    return out


@pytest.fixture(params=[None, "1", "0"], autouse=True)
def variable(request, monkeypatch):
    """The variable changes nothing: a call always interprets."""
    if request.param is None:
        monkeypatch.delenv("NKI_SIMULATOR", raising=False)
    else:
        monkeypatch.setenv("NKI_SIMULATOR", request.param)


def test_calls_and_simulations_are_the_same():
    def plain(x):
        return x

    for kernel in (identity, nki.simulate(identity), nki.simulate(identity[1])):
        assert np.array_equal(kernel(X), X)
    assert np.array_equal(nki.simulate(plain)(X), X)


def test_inputs_that_a_kernel_writes_change_in_place():
    x = X.copy()
    nki.simulate(overwrite)(x)
    assert np.all(x == 7)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float8_e4m3", "float8_e5m2"])
def test_unwritten_floats_are_nan(dtype):
    assert np.all(np.isnan(unwritten(X, dtype).astype(np.float32)))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_unwritten_integers_are_4(dtype):
    assert np.all(unwritten(X, dtype) == 4)


def test_unwritten_booleans_are_booleans():
    result = unwritten(X, "bool_")
    assert result.dtype == np.bool_
    assert np.all(result == True)  # noqa: E712
    assert result.sum() == result.size
