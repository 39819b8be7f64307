"""Functions made of several instructions, against NumPy on whole arrays."""

from __future__ import annotations

import numpy as np
import pytest
from support.language import BFLOAT16, TARGETS, floats, near, run, same

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def _hard_to_round():
    """Around every half, at the ends of integers in float32, tiny and special."""
    halves = np.arange(-8, 8, 0.5, np.float32)
    ends = np.float32([2**22, 2**23, 2**24, 2**31, 2**33, 1e30])
    ends = np.concatenate([ends, -ends])
    centres = np.concatenate([halves, ends, np.float32([2**-30, -(2**-30)])])
    values = [np.nextafter(centres, np.float32(end), dtype=np.float32) for end in (-9e38, 9e38)]
    return np.concatenate([centres, *values, [np.inf, -np.inf, np.nan]]).astype(np.float32)[None]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["floor", "ceil", "trunc"])
def test_rounding(name, target):
    function, numpy_function = getattr(nl, name), getattr(np, name)
    for x in (_hard_to_round(), floats((128, 32), scale=1e6)):
        same(run(function, x, target=target), numpy_function(x))
        same(run(function, x, target=target, psum=(0,)), numpy_function(x))
    x = np.random.default_rng(0).uniform(-100, 100, (128, 32)).astype(np.float32)
    integers = run(lambda a: function(a, dtype=nl.int32), x, target=target)
    same(integers, numpy_function(x).astype(np.int32))
    same(run(function, x.astype(BFLOAT16)), numpy_function(x.astype(BFLOAT16)))


def test_rounding_integers_copies_them():
    x = np.array([[2**31 - 1, -(2**31), 7]], np.int32)
    same(run(nl.floor, x), x)


@pytest.mark.parametrize("target", TARGETS)
def test_negative_and_logical_not(target):
    x = floats((128, 24))
    same(run(nl.negative, x, target=target), -x)
    same(run(nl.logical_not, x, target=target), (x == 0).astype(np.float32))
    bits = (np.arange(32).reshape(4, 8) % 2).astype(np.uint8)
    same(run(nl.logical_not, bits, target=target), 1 - bits)


@pytest.mark.parametrize("name", ["cos", "tan"])
@pytest.mark.parametrize("target", TARGETS)
def test_trigonometry(name, target):
    x = np.random.default_rng(0).uniform(-1.4, 1.4, (128, 24)).astype(np.float32)
    expected = getattr(np, name)(x.astype(np.float64))
    near(run(getattr(nl, name), x, target=target), expected, rtol=3e-6, atol=3e-7)
    near(run(getattr(nl, name), x, target=target, psum=(0,)), expected, rtol=3e-6, atol=3e-7)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("psum", [(), (0,), (1,), (0, 1)])
def test_division(target, psum):
    x, y = floats((128, 24)), np.exp(floats((128, 24), seed=1, scale=1.0))
    expected = x.astype(np.float64) / y
    with np.errstate(over="ignore"):
        expected = expected.astype(np.float32)
    kept = np.isfinite(y) & (np.abs(expected) > 1e-30)
    near(run(nl.divide, x, y, target=target, psum=psum)[kept], expected[kept], rtol=3e-7)
    column = np.full((128, 1), 3, np.float32)
    actual = run(nl.divide, x, column, target=target, psum=psum)
    near(actual, x / np.float32(3), rtol=3e-7, atol=1e-38)


def test_division_by_and_of_a_number():
    x = np.random.default_rng(0).uniform(1, 9, (128, 24)).astype(np.float32)
    near(run(lambda a: nl.divide(a, 7), x), x / 7.0, rtol=3e-7)
    near(run(lambda a: nl.divide(7, a), x), 7.0 / x, rtol=3e-7)
    same(run(lambda a: nl.divide(a, 0), x), np.full_like(x, np.inf))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["mod", "fmod"])
def test_remainders(name, target):
    function, numpy_function = getattr(nl, name), getattr(np, name)
    integers = np.arange(-256, 256, dtype=np.float32).reshape(128, 4)
    for divisor in (1, 3, 7, -3, -10, 0.5):
        expected = numpy_function(integers, np.float32(divisor))
        same(run(lambda a, d=divisor: function(a, d), integers, target=target), expected)
        column = np.full((128, 1), divisor, np.float32)
        same(run(function, integers, column, target=target), expected)
    same(run(lambda a: function(7.0, a), integers + 300), numpy_function(7, integers + 300))
    x, y = (np.random.default_rng(s).uniform(-9, 9, (128, 24)).astype(np.float32) for s in (0, 1))
    distance = np.abs(run(function, x, y, target=target) - numpy_function(x, y))
    # Next to a multiple of the divisor a whole divisor more or less is the same remainder.
    assert np.minimum(distance, np.abs(np.abs(y) - distance)).max() < 1e-5


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, BFLOAT16, np.uint8, np.int32, np.float16])
def test_where(dtype, target):
    x, y = floats((128, 24)), floats((128, 24), seed=1)[::-1].copy()
    if np.dtype(dtype).kind in "iu":
        x, y = (np.abs(np.nan_to_num(v, posinf=7, neginf=3)) % 200 for v in (x, y))
    x, y = x.astype(dtype), y.astype(dtype)
    condition = (np.random.default_rng(2).random((128, 24)) < 0.5).astype(np.float32)
    for tiles in ((condition, x, y), (condition.astype(np.uint8), x, y)):
        same(run(nl.where, *tiles, target=target), np.where(condition != 0, x, y))
        psum = run(nl.where, *tiles, target=target, psum=(0, 1, 2))
        same(psum, np.where(condition != 0, x, y))
    column = y[:, :1].copy()
    same(run(nl.where, condition, x, column, target=target), np.where(condition != 0, x, column))
    numbers = run(lambda c: nl.where(c, 3, 5, dtype=nl.float16), condition, target=target)
    same(numbers, np.where(condition != 0, 3, 5).astype(np.float16))


def test_where_on_views_and_other_types():
    x = floats((64, 32))
    condition = (np.arange(16) % 3 == 0).astype(np.float32) * np.ones((64, 1), np.float32)
    chosen = np.where(condition != 0, x[:, ::2], x[:, 1::2])
    same(run(lambda c, a: nl.where(c, a[:, ::2], a[:, 1::2]), condition, x), chosen)
    low = run(lambda c, a: nl.where(c, a[:, 0:16], 0, dtype=nl.bfloat16), condition, x)
    same(low, np.where(condition != 0, x[:, :16], 0).astype(BFLOAT16))


@pytest.mark.parametrize("target", TARGETS)
def test_softmax(target):
    x = np.random.default_rng(0).normal(scale=30, size=(128, 3, 5)).astype(np.float32)
    for axis, axes in ((-1, 2), ((1, 2), (1, 2)), ([2], 2)):
        e = np.exp(x.astype(np.float64) - x.max(axis=axes, keepdims=True))
        expected = e / e.sum(axis=axes, keepdims=True)
        actual = run(lambda a, axis=axis: nl.softmax(a, axis=axis), x, target=target)
        near(actual, expected, rtol=1e-5, atol=1e-38)
        psum = run(lambda a, axis=axis: nl.softmax(a, axis), x, target=target, psum=(0,))
        same(psum, actual)
    infinite = np.float32([[-np.inf, 0, 0, -np.inf]])
    same(run(nl.softmax, infinite), np.float32([[0, 0.5, 0.5, 0]]))
    low = run(lambda a: nl.softmax(a, 1, dtype=nl.bfloat16), np.ones((4, 3), np.float32))
    same(low, np.full((4, 3), 1 / 3, np.float32).astype(BFLOAT16))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("weights", [(128, 4, 6), (1, 4, 6), (128, 1, 1), (1, 1, 6)])
@pytest.mark.parametrize("axis", [2, (1, 2)])
def test_rms_norm(target, weights, axis):
    x = np.random.default_rng(0).normal(size=(128, 4, 6)).astype(np.float32)
    w = np.random.default_rng(1).normal(size=weights).astype(np.float32)
    n = 6 if axis == 2 else 24
    mean = np.square(x.astype(np.float64)).sum(axis=axis, keepdims=True) / n
    expected = x / np.sqrt(mean + 1e-3) * w
    near(run(lambda a, b: nl.rms_norm(a, b, axis, n, 1e-3), x, w, target=target), expected, 3e-6)
    low = run(
        lambda a, b: nl.rms_norm(a, b, axis, n, 1e-3, nl.bfloat16, nl.float16), x, w, target=target
    )
    assert low.dtype == BFLOAT16
    near(low, expected, rtol=2.0**-7, atol=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: nl.divide(1, 2), "'x' and 'y' are numbers"),
        (lambda t: nl.mod(t, None), "'y': expected a tile, got None"),
        (lambda t: nl.floor(1.5), "'x': expected a tile, got 1.5"),
        (lambda t: nl.where(1, t, t), "'condition': expected a tile, got 1"),
        (lambda t: nl.where(t, t, "y"), "'y': expected a tile, got 'y'"),
        (lambda t: nl.softmax(t, axis=0), r"reduce-axes.*'axis' is \[0\]; legal for this tile"),
        (lambda t: nl.rms_norm(t, t, 1, 0), "'n' and 'epsilon': expected numbers"),
        (lambda t: nl.rms_norm(t[:, 0:1], t, 1, 8), "'w' has shape"),
        (lambda t: nl.rms_norm(t, 2.0, 1, 8), "'w': expected a tile, got 2.0"),
        (lambda t: nl.rms_norm(t, t, 1, 8, compute_dtype="double"), "'compute_dtype': unknown"),
        (lambda t: nl.cos(None), "'x': expected a tile, got None"),
    ],
)
def test_wrong_calls_name_the_argument(call, message):
    def kernel(x):
        call(nl.load(x))

    with pytest.raises(nisa.NkiValidationError, match=message) as caught:
        nki.jit(kernel).trace(nki.TensorSpec((8, 8), nl.float32)).verify()
    assert caught.value.diagnostics[0].where[0].file == __file__
