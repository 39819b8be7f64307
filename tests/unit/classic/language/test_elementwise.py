"""Element-wise functions of the classic language, against NumPy on whole arrays."""

from __future__ import annotations

import math
import operator
import pickle

import numpy as np
import pytest
from scipy import special
from support.classic_language import BFLOAT16, floats, integers, launch, near, run, same

import nkijit.classic.isa as nisa
import nkijit.classic.language as nl
from nkijit.classic.language.operators import BinaryFunction, UnaryFunction

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def _density(x):
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


UNARY = {
    "abs": np.abs,
    "arctan": np.arctan,
    "ceil": np.ceil,
    "cos": np.cos,
    "erf": special.erf,
    "erf_dx": lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x),
    "exp": np.exp,
    "floor": np.floor,
    "gelu": lambda x: x * special.ndtr(x),
    "gelu_apprx_sigmoid": lambda x: x * special.expit(1.702 * x),
    "gelu_apprx_tanh": lambda x: (
        x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
    ),
    "gelu_dx": lambda x: special.ndtr(x) + x * _density(x),
    "log": np.log,
    "mish": lambda x: x * np.tanh(np.logaddexp(0, x)),
    "negative": np.negative,
    "reciprocal": np.reciprocal,
    "relu": lambda x: np.maximum(x, 0),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": special.expit,
    "sign": np.sign,
    "silu": lambda x: x * special.expit(x),
    "silu_dx": lambda x: special.expit(x) + x * special.expit(x) * (1 - special.expit(x)),
    "sin": np.sin,
    "softplus": lambda x: np.logaddexp(0, x),
    "sqrt": np.sqrt,
    "square": np.square,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}
POSITIVE = ("log", "rsqrt", "sqrt")
EXACT = ("abs", "ceil", "floor", "negative", "relu", "sign", "square", "trunc")

ARITHMETIC = {
    "add": np.add,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "subtract": np.subtract,
}
APPROXIMATE = {"divide": np.divide, "fmod": np.fmod, "mod": np.mod, "power": np.power}
BITWISE = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "left_shift": np.left_shift,
    "right_shift": np.right_shift,
}
PREDICATES = {
    "equal": np.equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "not_equal": np.not_equal,
}


def test_every_word_is_tried_here():
    words = {name: value for name, value in vars(nl).items() if isinstance(value, UnaryFunction)}
    assert set(words) == {*UNARY, "invert", "logical_not"}
    words = {name: value for name, value in vars(nl).items() if isinstance(value, BinaryFunction)}
    assert set(words) == {*ARITHMETIC, *APPROXIMATE, *BITWISE, *PREDICATES}


def _domain(name, shape=(128, 24)):
    low = 0.01 if name in POSITIVE else -1.4
    x = np.random.default_rng(1).uniform(low, 1.4, shape).astype(np.float32)
    return x * 10 if name in EXACT else x


@pytest.mark.parametrize("name", UNARY)
def test_one_tile(name):
    function, x = getattr(nl, name), _domain(name)
    expected = UNARY[name](x.astype(np.float64))
    near(run(function, x), expected, rtol=3e-6, atol=3e-7)
    near(run(function, x, psum=(0,)), expected, rtol=3e-6, atol=3e-7)
    half = run(function, x.astype(BFLOAT16))
    assert half.dtype == BFLOAT16
    near(half, UNARY[name](x.astype(BFLOAT16).astype(np.float64)), rtol=2**-8, atol=1e-6)
    single = run(lambda a: function(a, dtype=nl.float32), x[:1, :1].astype(BFLOAT16))
    near(single, UNARY[name](x[:1, :1].astype(BFLOAT16).astype(np.float64)), rtol=3e-6, atol=3e-7)


@pytest.mark.parametrize("name", EXACT)
def test_special_values(name):
    x = floats((4, 8))
    same(run(getattr(nl, name), x), UNARY[name](x).astype(np.float32))


@pytest.mark.parametrize("name", UNARY)
def test_a_mask_computes_a_block(name):
    function, x = getattr(nl, name), _domain(name)
    i_p, i_f = nl.mgrid[0:128, 0:24]
    actual = run(lambda a: function(a, mask=(i_p < 50) & (i_f >= 3)), x, mask=_block)
    expected = np.zeros((128, 24))
    expected[:50, 3:] = UNARY[name](x.astype(np.float64))[:50, 3:]
    near(actual, expected, rtol=3e-6, atol=3e-7)


def _block(i_p, i_f):
    return (i_p < 50) & (i_f >= 3)


@pytest.mark.parametrize("first", [1, 32, 64, 100])
def test_a_mask_begins_at_any_partition(first):
    x = floats((128, 24), seed=2)
    i_p = nl.arange(128)[:, None]
    actual = run(lambda a: nl.negative(a, mask=i_p >= first), x, mask=lambda p, f: p >= first)
    expected = -x
    expected[:first] = 0
    same(actual, expected)


def test_a_mask_that_is_not_a_block_computes_its_elements():
    x, y = floats((64, 64)), floats((64, 64), seed=1)
    i_p, i_f = nl.mgrid[0:64, 0:64]
    actual = run(lambda a, b: nl.add(a, b, mask=i_p >= i_f), x, y, mask=lambda p, f: p >= f)
    expected = np.where(np.arange(64)[:, None] >= np.arange(64), x + y, np.float32(0))
    same(actual, expected)


def test_an_assignment_copies_the_elements_of_the_mask():
    x = floats((64, 64), seed=3)
    i_p, i_f = nl.mgrid[0:64, 0:64]

    def function(a):
        filled = nl.full((64, 64), 7.0, np.float32)
        filled[...] = nl.abs(a, mask=i_p + i_f < 50)
        return filled

    index = np.arange(64)
    expected = np.where(index[:, None] + index < 50, np.abs(x), np.float32(7))
    same(run(function, x), expected)


def test_logical_not_and_invert():
    x = floats((128, 24))
    same(run(nl.logical_not, x), x == 0)
    same(run(lambda a: nl.logical_not(a, dtype=nl.float32), x), (x == 0).astype(np.float32))
    for dtype in (np.int32, np.uint8, np.int16, np.uint32):
        bits = integers((16, 8), 0, 100, dtype)
        same(run(nl.invert, bits), ~bits)
        same(run(operator.invert, bits), ~bits)


@pytest.mark.parametrize("name", ARITHMETIC)
def test_two_tiles(name):
    x, y = floats((128, 24)), floats((128, 24), seed=1)[::-1].copy()
    y[64:] = x[64:]
    function, expected = getattr(nl, name), ARITHMETIC[name](x, y)
    same(run(function, x, y), expected)
    same(run(function, x, y, psum=(0, 1)), expected)
    same(run(lambda a, b: function(a, b, dtype=nl.bfloat16), x, y), expected.astype(BFLOAT16))
    same(run(lambda a: function(a, 1.5), x), ARITHMETIC[name](x, np.float32(1.5)))
    same(run(lambda a: function(-2.0, a), x), ARITHMETIC[name](np.float32(-2), x))


@pytest.mark.parametrize("name", PREDICATES)
def test_predicates_are_bool(name):
    x, y = floats((128, 24)), floats((128, 24), seed=1)[::-1].copy()
    y[64:] = x[64:]
    function, expected = getattr(nl, name), PREDICATES[name](x, y)
    same(run(function, x, y), expected)
    as_floats = run(lambda a, b: function(a, b, dtype=nl.float32), x, y)
    same(as_floats, expected.astype(np.float32))
    same(run(lambda a: function(a, -1.5), x), PREDICATES[name](x, np.float32(-1.5)))


def test_division_and_its_like():
    rng = np.random.default_rng(5)
    x = rng.uniform(-50, 50, (64, 32)).astype(np.float32)
    y = rng.uniform(0.5, 9, (64, 32)).astype(np.float32)
    near(run(nl.divide, x, y), x.astype(np.float64) / y, rtol=3e-7)
    near(run(lambda a: nl.divide(1.0, a), y), 1 / y.astype(np.float64), rtol=3e-7)
    near(run(lambda a: nl.divide(a, 3.0), x), x.astype(np.float64) / 3, rtol=3e-7)
    near(run(nl.power, y, x / 25), y.astype(np.float64) ** (x / 25), rtol=1e-5)
    near(run(lambda a: nl.power(a, 2.0), x, psum=(0,)), x.astype(np.float64) ** 2, rtol=1e-6)
    whole, by = np.trunc(x), np.trunc(y) + 1
    same(run(nl.mod, whole, by), np.mod(whole, by))
    same(run(nl.mod, whole, -by), np.mod(whole, -by))
    same(run(nl.fmod, whole, by), np.fmod(whole, by))
    same(run(lambda a, b: nl.mod(a, b, nl.int32), whole, by), np.mod(whole, by).astype(np.int32))


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
@pytest.mark.parametrize("name", ["mod", "fmod"])
def test_remainders_of_32_bits_are_exact(name, dtype):
    function, numpy_function = getattr(nl, name), getattr(np, name)
    limits = np.iinfo(dtype)
    x = integers((128, 24), limits.min, limits.max, dtype)
    y = integers((128, 24), 1, 2**16, dtype, seed=1)
    same(run(function, x, y), numpy_function(x, y))
    same(run(lambda a: function(a, 3), x.astype(np.int32)), numpy_function(x.astype(np.int32), 3))
    i_p, i_f = nl.mgrid[0:128, 0:24]
    masked = run(lambda a, b: function(a, b, mask=(i_p < 50) & (i_f >= 3)), x, y, mask=_block)
    expected = np.zeros_like(x)
    expected[:50, 3:] = numpy_function(x, y)[:50, 3:]
    same(masked, expected)


@pytest.mark.parametrize("name", ["mod", "fmod"])
def test_remainders_of_large_and_infinite_numbers(name):
    x = np.float32([[1e10, -1e10, 3, -3, 335544380, 2**31]])
    for y in (3.0, -3.0, np.inf, 1e5):
        expected = getattr(np, name)(x, np.float32(y))
        same(run(lambda a, y=y: getattr(nl, name)(a, y), x), expected)
        same(run(getattr(nl, name), x, np.full_like(x, y)), expected)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int16, np.uint8])
@pytest.mark.parametrize("name", BITWISE)
def test_bits(name, dtype):
    x, y = integers((64, 16), 0, 100, dtype), integers((64, 16), 0, 4, dtype, seed=1)
    function, numpy_function = getattr(nl, name), BITWISE[name]
    same(run(function, x, y), numpy_function(x, y))
    same(run(lambda a: function(a, 3), x), numpy_function(x, dtype(3)))
    same(run(lambda a: function(3, a), y), numpy_function(dtype(3), y))


def test_integers_of_32_bits_are_exact():
    x = integers((64, 16), -(2**30), 2**30, np.int32)
    y = integers((64, 16), -(2**30), 2**30, np.int32, seed=1)
    same(run(nl.add, x, y), x + y)
    same(run(nl.subtract, x, y), x - y)


@pytest.mark.parametrize("name", ["subtract", "greater", "divide", "power"])
@pytest.mark.parametrize(
    "shapes",
    [
        ((128, 6), (128, 1)),
        ((128, 1), (128, 6)),
        ((128, 1), (128, 1)),
        ((16, 4, 6), (16, 1, 6)),
        ((16, 4, 1), (16, 1, 6)),
        ((32, 6), (1, 6)),
        ((1, 6), (32, 1)),
        ((32, 4, 6), (1, 6)),
        ((1, 1), (32, 2, 6)),
        ((1, 1), (1, 1)),
    ],
)
def test_broadcasting(name, shapes):
    rng = np.random.default_rng(0)
    x, y = (rng.uniform(0.5, 3, shape).astype(np.float32) for shape in shapes)
    expected = {**ARITHMETIC, **APPROXIMATE, **PREDICATES}[name](x, y)
    actual = run(getattr(nl, name), x, y)
    assert actual.dtype == expected.dtype
    near(actual, expected, rtol=2e-6)


def test_a_mask_of_tiles_that_broadcast():
    x, y = floats((64, 12)), floats((1, 12), seed=4)
    i_p, i_f = nl.mgrid[0:64, 0:12]
    actual = run(
        lambda a, b: nl.multiply(a, b, mask=(i_p < 10) & (i_f > 6)),
        x,
        y,
        mask=lambda p, f: (p < 10) & (f > 6),
    )
    expected = np.zeros_like(x)
    expected[:10, 7:] = (x * y)[:10, 7:]
    same(actual, expected)


OPERATORS = {
    operator.add: (np.add, np.float32),
    operator.sub: (np.subtract, np.float32),
    operator.mul: (np.multiply, np.float32),
    operator.truediv: (np.divide, np.float32),
    operator.mod: (np.mod, np.float32),
    operator.pow: (np.power, np.float32),
    operator.lt: (np.less, np.float32),
    operator.le: (np.less_equal, np.float32),
    operator.gt: (np.greater, np.float32),
    operator.ge: (np.greater_equal, np.float32),
    operator.eq: (np.equal, np.float32),
    operator.ne: (np.not_equal, np.float32),
    operator.and_: (np.bitwise_and, np.int32),
    operator.or_: (np.bitwise_or, np.int32),
    operator.xor: (np.bitwise_xor, np.int32),
    operator.lshift: (np.left_shift, np.int32),
    operator.rshift: (np.right_shift, np.int32),
}
IN_PLACE = {
    operator.iadd: (np.add, np.float32),
    operator.isub: (np.subtract, np.float32),
    operator.imul: (np.multiply, np.float32),
    operator.itruediv: (np.divide, np.float32),
    operator.imod: (np.mod, np.float32),
    operator.ipow: (np.power, np.float32),
    operator.iand: (np.bitwise_and, np.int32),
    operator.ior: (np.bitwise_or, np.int32),
    operator.ixor: (np.bitwise_xor, np.int32),
    operator.ilshift: (np.left_shift, np.int32),
    operator.irshift: (np.right_shift, np.int32),
}


@pytest.mark.parametrize("symbol", OPERATORS)
def test_operators_of_python(symbol):
    numpy_function, dtype = OPERATORS[symbol]
    x, y = integers((32, 8), 1, 9, dtype), integers((32, 8), 1, 5, dtype, seed=1)
    three = dtype(3)
    for actual, expected in (
        (run(symbol, x, y), numpy_function(x, y)),
        (run(lambda a: symbol(a, three), x), numpy_function(x, three)),
        (run(lambda a: symbol(3, a), x), numpy_function(three, x)),
    ):
        assert actual.dtype == expected.dtype
        near(actual, expected, rtol=2e-6)


@pytest.mark.parametrize("symbol", IN_PLACE)
def test_operators_in_place(symbol):
    numpy_function, dtype = IN_PLACE[symbol]
    x, y = integers((32, 8), 1, 9, dtype), integers((32, 8), 1, 5, dtype, seed=1)

    def whole(a, b):
        same_tile = a
        a = symbol(a, b)
        assert a is same_tile
        return a

    def part(a, b):
        a[0:16, 2:6] = symbol(a[0:16, 2:6], b[0:16, 2:6])
        return a

    near(run(whole, x, y), numpy_function(x, y), rtol=2e-6)
    expected = x.copy()
    expected[:16, 2:6] = numpy_function(x, y)[:16, 2:6]
    near(run(part, x, y), expected, rtol=2e-6)


def test_abs_and_negation():
    x = floats((8, 8))
    same(run(abs, x), np.abs(x))
    same(run(operator.neg, x), -x)


def test_a_numpy_number_in_front_leaves_it_to_the_tile():
    x = floats((8, 8))
    same(run(lambda a: np.float32(2) - a, x), np.float32(2) - x)


def test_tiles_after_block_dimensions():
    x = floats((3, 32, 8), seed=6)

    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tiles = nl.ndarray((3, nl.par_dim(32), 8), x.dtype, buffer=nl.sbuf)
        for block in range(3):
            tiles[block] = nl.load(x[block])
            tiles[block] *= 2.0
            nl.store(out[block], nl.add(tiles[block], 1.0))
        return out

    same(launch(kernel, x), x * 2 + 1)


def test_words_are_operators_of_instructions():
    x, y = floats((32, 8)), floats((32, 8), seed=1)
    same(run(lambda a, b: nisa.tensor_tensor(a, b, op=nl.subtract), x, y), x - y)
    largest = run(lambda a: nisa.tensor_reduce(nl.max, a, axis=1), x[1:])
    same(largest, x[1:].max(1, keepdims=True))
    total = run(lambda a: nisa.tensor_reduce(np.sum, a, axis=1), x[1:])
    near(total, x[1:].sum(1, keepdims=True), rtol=1e-4, atol=1e-5)


def test_words_can_be_pickled_and_name_themselves():
    assert pickle.loads(pickle.dumps(nl.add)) is nl.add
    assert (repr(nl.add), nl.add.__name__) == ("nl.add", "add")
    assert nl.add.__doc__ is not None
    assert nl.add.__doc__.startswith("`x + y`.")


def test_a_quotient_of_integers_is_no_integer():
    x = np.arange(-8, 24, dtype=np.int32).reshape(8, 4)
    out = run(lambda a: a / 4, x)
    assert out.dtype == np.float32
    assert np.array_equal(out, x / 4)
