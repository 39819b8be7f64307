"""Reductions, softmax and rms_norm of the classic language, against NumPy on whole arrays."""

from __future__ import annotations

import numpy as np
import pytest
from support.classic_language import BFLOAT16, integers, near, run, same

import nkijit.classic.language as nl

REDUCTIONS = {"max": np.max, "min": np.min, "sum": np.sum, "prod": np.prod, "mean": np.mean}


def _values(shape):
    return np.random.default_rng(0).uniform(0.5, 1.5, shape).astype(np.float32)


def _on_chip(expected):
    """A tile keeps two dimensions."""
    return expected[:, None] if expected.ndim == 1 else expected


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((128, 24), 1),
        ((128, 24), [1]),
        ((128, 24), -1),
        ((16, 4, 6), 2),
        ((16, 4, 6), (1, 2)),
        ((16, 2, 3, 5), (2, 3)),
        ((1, 1), 1),
        ((16, 4, 6), 1),
        ((16, 2, 3, 2, 5), [2, 4]),
    ],
)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_along_axes(name, shape, axis, keepdims):
    x, function = _values(shape), getattr(nl, name)
    axes = tuple(axis) if isinstance(axis, (list, tuple)) else axis
    expected = REDUCTIONS[name](x.astype(np.float64), axis=axes, keepdims=keepdims)
    actual = run(lambda a: function(a, axis, keepdims=keepdims), x)
    near(actual, _on_chip(expected), rtol=2e-6)


@pytest.mark.parametrize(("shape", "axis"), [((128, 24), 1), ((16, 4, 6), 2), ((16, 4, 6), (1, 2))])
def test_variance(shape, axis):
    x = _values(shape)
    expected = _on_chip(np.var(x.astype(np.float64), axis=axis))
    near(run(lambda a: nl.var(a, axis), x), expected, rtol=1e-5)
    near(run(lambda a: nl.var(a, axis), x, psum=(0,)), expected, rtol=1e-5)


def test_all_is_bool():
    x = integers((32, 5), 0, 4, np.float32)
    expected = (x != 0).all(1, keepdims=True)
    assert expected.any()
    assert not expected.all()
    same(run(lambda a: nl.all(a, axis=1), x), expected)
    same(run(lambda a: nl.all(a, axis=1, dtype=nl.int32), x), expected.astype(np.int32))


def test_special_values_go_through():
    x = np.float32([[np.inf, 1, 2], [-np.inf, 1, np.nan], [-np.inf, np.inf, 0], [-1, -2, -3]])
    with np.errstate(invalid="ignore"):
        same(run(lambda a: nl.sum(a, axis=1), x), x.sum(1, keepdims=True))
    finite = x[[0, 2, 3]]
    same(run(lambda a: nl.max(a, axis=1), finite), finite.max(1, keepdims=True))
    same(run(lambda a: nl.min(a, axis=1), finite), finite.min(1, keepdims=True))


def test_data_types():
    x = integers((32, 7), -9, 9, np.int32)
    same(run(lambda a: nl.sum(a, axis=1), x), x.sum(1, keepdims=True, dtype=np.int32))
    for function, expected in ((nl.mean, x.mean(1, keepdims=True)), (nl.var, x.var(1)[:, None])):
        actual = run(lambda a, function=function: function(a, axis=1), x)
        assert actual.dtype == np.float32
        near(actual, expected, rtol=1e-5)
    half = _values((32, 64)).astype(BFLOAT16)
    total = run(lambda a: nl.sum(a, axis=1), half)
    assert total.dtype == BFLOAT16
    near(total, half.astype(np.float64).sum(1, keepdims=True), rtol=2**-8)
    assert run(lambda a: nl.sum(a, axis=1, dtype=np.float32), half).dtype == np.float32


@pytest.mark.parametrize("name", [*REDUCTIONS, "var"])
def test_a_mask_leaves_elements_out(name):
    x = _values((64, 24))
    i_p, i_f = nl.mgrid[0:64, 0:24]
    function = getattr(nl, name)
    actual = run(
        lambda a: function(a, axis=1, mask=(i_p < 20) & (i_f >= 4) & (i_f < 10)),
        x,
        mask=lambda p, f: p < 20,
    )
    expected = np.zeros((64, 1))
    expected[:20, 0] = getattr(np, name)(x[:20, 4:10].astype(np.float64), axis=1)
    near(actual, expected, rtol=1e-5)


def _softmax(x, axes):
    e = np.exp(x.astype(np.float64) - x.max(axes, keepdims=True))
    return e / e.sum(axes, keepdims=True)


@pytest.mark.parametrize(
    ("shape", "axis"), [((128, 24), 1), ((16, 4, 6), -1), ((16, 4, 6), (1, 2))]
)
def test_softmax(shape, axis):
    x = _values(shape) * 30
    near(run(lambda a: nl.softmax(a, axis), x), _softmax(x, axis), rtol=1e-5)
    half = run(lambda a: nl.softmax(a, axis, compute_dtype=nl.bfloat16), x)
    assert half.dtype == BFLOAT16
    near(half, _softmax(x, axis), rtol=2**-8)


def test_softmax_of_a_block():
    x = _values((64, 24)) * 30
    i_p, i_f = nl.mgrid[0:64, 0:24]

    def kept(p, f):
        return (p < 40) & (f < 10)

    actual = run(lambda a: nl.softmax(a, axis=1, mask=kept(i_p, i_f)), x, mask=kept)
    expected = np.zeros((64, 24))
    expected[:40, :10] = _softmax(x[:40, :10], 1)
    near(actual, expected, rtol=1e-5)


@pytest.mark.parametrize("weights", [(64, 24), (1, 24)])
def test_rms_norm(weights):
    x, w = _values((64, 24)), np.linspace(-2, 2, np.prod(weights), dtype=np.float32)
    w = w.reshape(weights)
    root = np.sqrt((x.astype(np.float64) ** 2).sum(1, keepdims=True) / 20 + 1e-3)
    expected = x / root * w
    near(run(lambda a, b: nl.rms_norm(a, b, 1, 20, 1e-3), x, w), expected, rtol=1e-5)
    actual = run(lambda a, b: nl.rms_norm(a, b, axis=1, n=20, epsilon=1e-3, dtype=np.float16), x, w)
    assert actual.dtype == np.float16
    near(actual, expected, rtol=2e-3)
