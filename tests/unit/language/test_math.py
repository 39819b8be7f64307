"""Functions of several instructions, against NumPy on whole arrays."""

from __future__ import annotations

import numpy as np
import pytest
from support.backends import natively
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


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_negative_integers_of_32_bits_are_exact(dtype):
    x = np.array([[0, 1, 2**24 + 1, 335544381, 2**31 - 1]], dtype)
    same(run(nl.negative, x), -x)
    same(run(nl.negative, x, psum=(0,)), -x)
    if dtype is np.int32:
        same(run(nl.negative, -x), x)
        same(run(lambda a: nl.negative(a, dtype=nl.float32), x), (-x).astype(np.float32))


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


def test_division_by_a_number_whose_reciprocal_is_no_normal_float32():
    x = np.float32([[0, 1e-40, -3e-42, 1e-38, 5, 1.5e38, -3e38, np.inf, np.nan]])
    for y in (1e-42, -1e-40, 2.0**-128, 2.0**126, 1.7e38, -3.4e38):
        with np.errstate(over="ignore"):
            expected = (x.astype(np.float64) / np.float64(np.float32(y))).astype(np.float32)
        near(run(lambda a, y=y: nl.divide(a, y), x), expected, rtol=3e-7, atol=2.0**-149)
    same(run(lambda a: nl.divide(a, np.inf), x[:, :-2]), x[:, :-2] / np.float32(np.inf))


REMAINDERS = pytest.mark.parametrize("name", ["mod", "fmod"])


def same_bits(actual, expected):
    """Equal with the sign of zeros; NaN to NaN."""
    same(actual, expected)
    kept = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(actual[kept]), np.signbit(expected[kept]))


def _exponents(shape, low, high, seed):
    """float32 of all exponents from `low` on, with few bits and with many, of both signs."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2**23, shape) & (-1 << rng.integers(0, 23, shape))
    bits |= rng.integers(low + 127, high + 127, shape) << 23 | rng.integers(0, 2, shape) << 31
    return bits.astype(np.uint32).view(np.float32)


def _hard_pairs():
    """Dividends next to multiples, and half multiples, of divisors of all sizes."""
    shape, rng = (128, 300), np.random.default_rng(0)
    y = _exponents(shape, -126, 126, seed=1)
    quotient = rng.integers(0, 2**38, shape) >> rng.integers(0, 39, shape)
    x = y.astype(np.float64) * (quotient + rng.choice([0, 0, 0.5], shape))
    x = np.where(np.abs(x) < 2.0**126, x, y * 0.75).astype(np.float32)
    return np.nextafter(x, rng.choice([0, 1, -1], shape) * x * 2, dtype=np.float32), y


@pytest.mark.parametrize("target", TARGETS)
@REMAINDERS
def test_remainders_of_floats_have_every_bit(name, target):
    x, y = _hard_pairs()
    same_bits(run(getattr(nl, name), x, y, target=target), getattr(np, name)(x, y))


TINY = [0, -0.0, 1e-45, -1e-42, 2**-126, 0.1, -0.5]
LARGE = [1e10, -1e10, 2**31, 2**32, -(2**33), 1e30, -1e30, 2**126, -3.4e38]
INTEGRAL = [1, -1, 3, -7, 2**23 + 1, 1 - 2**24, 335544380]
SPECIAL = np.float32([*TINY, *INTEGRAL, 1.5, *LARGE, np.inf, -np.inf, np.nan])


@REMAINDERS
def test_remainders_of_special_values(name):
    function, numpy_function = getattr(nl, name), getattr(np, name)
    x, y = (np.ascontiguousarray(v) for v in np.meshgrid(SPECIAL, SPECIAL, indexing="ij"))
    expected = numpy_function(x, y)
    with np.errstate(all="ignore"):
        quotient = np.abs(x.astype(np.float64) / y)
    documented = (np.abs(x) < 2.0**127) & (np.abs(y) >= 2.0**-126) & (quotient < 2.0**38)
    elsewhere = np.isnan(expected) | (np.abs(x) == np.inf)
    expected[~documented & ~elsewhere] = np.nan
    assert np.isnan(expected).mean() < 0.5
    same_bits(run(function, x, y), expected)
    same_bits(run(function, x, y, psum=(0,)), expected)
    same_bits(run(function, x, y, psum=(0, 1)), expected)
    for i, number in enumerate(SPECIAL):
        column = np.ascontiguousarray(x[:, :1])
        by_number = run(lambda a, n=number: function(a, n), column)
        same_bits(by_number, expected[:, i : i + 1])
        of_number = run(lambda a, n=number: function(n, a), column)
        same_bits(of_number, np.ascontiguousarray(expected[i : i + 1].T))


@REMAINDERS
@pytest.mark.parametrize(
    "shapes",
    [((128, 6), (128, 1)), ((128, 1), (128, 6)), ((16, 4, 6), (16, 1, 6)), ((32, 6), (1, 6))],
)
@pytest.mark.parametrize("dtype", [np.float32, BFLOAT16, np.int32, np.uint8])
def test_remainders_broadcast(name, shapes, dtype):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(1, 200, shape).astype(dtype) for shape in shapes)
    expected = getattr(np, name)(x.astype(np.float32), y.astype(np.float32)).astype(dtype)
    same(run(getattr(nl, name), x, y), expected)


@REMAINDERS
@pytest.mark.parametrize("dtype", [BFLOAT16, np.float16])
def test_remainders_of_narrow_floats(name, dtype):
    rng = np.random.default_rng(0)
    x, y = (np.exp(rng.uniform(-9, 9, (128, 64))) * rng.choice([-1, 1], (128, 64)) for _ in "xy")
    x, y = x.astype(dtype), y.astype(dtype)
    expected = getattr(np, name)(x.astype(np.float32), y.astype(np.float32)).astype(dtype)
    same_bits(run(getattr(nl, name), x, y), expected)


def _hard_integers(dtype, seed):
    """Of all sizes, and those next to powers of 2 and to the ends of the data type."""
    limits, rng, shape = np.iinfo(dtype), np.random.default_rng(seed), (128, 200)
    random = rng.integers(limits.min, limits.max, shape, endpoint=True) >> rng.integers(
        0, 32, shape
    )
    next_to = 2 ** rng.integers(0, 33, shape) + rng.integers(-1, 2, shape)
    ends = rng.choice([limits.min, limits.max, 0, -1], shape)
    chosen = np.choose(rng.integers(0, 3, shape), [random, next_to, ends])
    return np.clip(chosen, limits.min, limits.max).astype(dtype)


INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32]


@pytest.mark.parametrize("dtype", INTEGERS)
@REMAINDERS
def test_remainders_of_integers_are_exact(name, dtype):
    function, numpy_function = getattr(nl, name), getattr(np, name)
    x, y = _hard_integers(dtype, 0), _hard_integers(dtype, 1)
    wide = x.astype(np.int64)
    # The same with dividends next to multiples of the divisors.
    multiples = y * np.random.default_rng(2).integers(0, 2**12, y.shape)
    near = (multiples + np.random.default_rng(3).integers(-1, 2, y.shape)).astype(dtype)
    for dividend in (x, near):
        with np.errstate(divide="ignore"):
            expected = numpy_function(dividend.astype(np.int64), y).astype(dtype)
        same(run(function, dividend, y), expected)
        same(run(function, dividend, y, target="trn1", psum=(0, 1)), expected)
    for number in (1, 3, 10, 2**24 + 1, 2**31 - 1, -1, -7, -(2**31)):
        limits = np.iinfo(dtype)
        if limits.min <= number <= limits.max:
            by_number = run(lambda a, n=number: function(a, n), x)
            same(by_number, numpy_function(wide, number).astype(dtype))
            with np.errstate(divide="ignore"):
                expected = numpy_function(np.int64(number), wide).astype(dtype)
            same(run(lambda a, n=number: function(n, a), x), expected)
    same(run(lambda a: function(a, 0), x), np.zeros_like(x))


@pytest.mark.parametrize("other", INTEGERS)
@REMAINDERS
def test_remainders_of_different_integers(name, other):
    for dtype in (np.int32, np.uint32):
        x, y = _hard_integers(dtype, 4), _hard_integers(other, 5)
        with np.errstate(divide="ignore"):
            expected = getattr(np, name)(x.astype(np.int64), y.astype(np.int64))
        whole = run(lambda a, b: getattr(nl, name)(a, b, dtype=nl.float32), x, y)
        same(whole, expected.astype(np.float32))


@REMAINDERS
def test_remainders_in_native_code(name):
    x, y = _hard_pairs()
    integers = _hard_integers(np.int32, 0), _hard_integers(np.int32, 1)
    for one, two in ((x, y), integers):

        @nki.jit
        def kernel(a, b):
            out = nl.ndarray(a.shape, a.dtype, buffer=nl.shared_hbm)
            nl.store(out, getattr(nl, name)(nl.load(a), nl.load(b)))
            return out

        traced = kernel.trace(one, two)
        expected = np.asarray(traced.run(one, two))
        with natively():
            actual = np.asarray(traced.run(one, two))
            assert traced.backend.numpy == 0
        same_bits(actual, expected)


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
        (lambda t: nl.mod(t, None), "'y': expected a tile or a number, got None"),
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
