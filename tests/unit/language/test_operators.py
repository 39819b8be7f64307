"""Operator words that are called: against NumPy, on whole arrays."""

from __future__ import annotations

import math
import pickle

import ml_dtypes
import numpy as np
import pytest
from scipy import special
from support.language import BFLOAT16, TARGETS, floats, near, run, same

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.operators import OPERATORS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def _logical(function):
    return lambda x, y: function(x != 0, y != 0)


ARITHMETIC = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "logical_and": _logical(np.logical_and),
    "logical_or": _logical(np.logical_or),
    "logical_xor": _logical(np.logical_xor),
}
BITWISE = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "left_shift": np.left_shift,
    "right_shift": np.right_shift,
}
MAGNITUDE = {
    "abs_max": lambda x, y: np.where(np.abs(x) > np.abs(y), x, y),
    "abs_min": lambda x, y: np.where(np.abs(x) < np.abs(y), x, y),
}


def _gelu(x):
    return x * special.ndtr(x)


def _density(x):
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _gate(x, slope):
    return x * special.expit(slope * x)


def _gate_dx(x, slope):
    s = special.expit(slope * x)
    return s + slope * x * s * (1 - s)


UNARY = {
    "abs": np.abs,
    "square": np.square,
    "exp": np.exp,
    "tanh": np.tanh,
    "sigmoid": special.expit,
    "relu": lambda x: np.maximum(x, 0),
    "gelu": _gelu,
    "gelu_apprx_sigmoid": lambda x: _gate(x, 1.702),
    "gelu_apprx_tanh": lambda x: (
        x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
    ),
    "gelu_dx": lambda x: special.ndtr(x) + x * _density(x),
    "gelu_apprx_sigmoid_dx": lambda x: _gate_dx(x, 1.702),
    "silu": lambda x: _gate(x, 1.0),
    "silu_dx": lambda x: _gate_dx(x, 1.0),
    "softplus": lambda x: np.logaddexp(0, x),
    "mish": lambda x: x * np.tanh(np.logaddexp(0, x)),
    "erf": special.erf,
    "erf_dx": lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x),
    "reciprocal": np.reciprocal,
    "copy": lambda x: x,
    "sin": np.sin,
    "arctan": np.arctan,
    "sign": np.sign,
}
POSITIVE = {"log": np.log, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x)}

NOT_CALLABLE = {"prelu", "bypass", "average"}


def test_every_word_is_tried_here():
    tried = {*ARITHMETIC, *BITWISE, *MAGNITUDE, *UNARY, *POSITIVE, "invert", "power"}
    assert tried | NOT_CALLABLE == set(OPERATORS)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_two_tiles(name, target):
    x, y = floats((128, 24)), floats((128, 24), seed=1)[::-1].copy()
    y[64:] = x[64:]
    function, expected = getattr(nl, name), ARITHMETIC[name](x, y)
    same(run(function, x, y, target=target), expected.astype(np.float32))
    half = run(lambda a, b: function(a, b, dtype=nl.bfloat16), x, y, target=target)
    same(half, expected.astype(np.float32).astype(BFLOAT16))


@pytest.mark.parametrize("name", [*ARITHMETIC, *MAGNITUDE])
def test_a_number_on_either_side(name):
    x, function = floats((64, 3, 5)), getattr(nl, name)
    numpy_function = {**ARITHMETIC, **MAGNITUDE}[name]
    same(run(lambda a: function(a, 1.5), x), numpy_function(x, np.float32(1.5)).astype(np.float32))
    same(run(lambda a: function(-2, a), x), numpy_function(np.float32(-2), x).astype(np.float32))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["subtract", "greater"])
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
    ],
)
def test_shapes_broadcast(name, shapes, target):
    x, y = (floats(shape, seed) for seed, shape in enumerate(shapes))
    expected = ARITHMETIC[name](x, y).astype(np.float32)
    same(run(getattr(nl, name), x, y, target=target), expected)
    low = y.astype(BFLOAT16)
    expected = ARITHMETIC[name](x, low.astype(np.float32)).astype(np.float32)
    same(run(getattr(nl, name), x, low, target=target), expected)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("psum", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("name", ["add", "power", "equal"])
def test_tiles_in_psum(name, psum, target):
    x, y = (np.abs(floats((128, 24), seed)) for seed in (0, 1))
    function = np.power if name == "power" else ARITHMETIC[name]
    expected = function(x.astype(np.float64) if name == "power" else x, y)
    near(run(getattr(nl, name), x, y, target=target, psum=psum), expected.astype(np.float32))
    column = y[:, :1].copy()
    expected = function(x.astype(np.float64) if name == "power" else x, column)
    near(run(getattr(nl, name), x, column, target=target, psum=psum), expected.astype(np.float32))


def test_one_tile_twice_in_psum():
    x = floats((128, 24))
    same(run(lambda a: nl.add(a, a), x, psum=(0,)), x + x)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_32_bit_integers_are_exact(dtype):
    x = np.random.default_rng(0).integers(0, 2**31 - 1, (64, 8)).astype(dtype)
    y = x + (np.arange(8, dtype=dtype) == 3)
    same(run(nl.equal, x, y), (x == y).astype(dtype))
    same(run(nl.subtract, y, x), y - x)
    same(run(nl.maximum, x, y), y)
    same(run(nl.add, x, np.ones((64, 1), dtype)), x + dtype(1))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32])
@pytest.mark.parametrize("name", BITWISE)
def test_bit_patterns(name, dtype, target):
    limits = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(limits.min, limits.max, (128, 16)).astype(dtype)
    y = np.random.default_rng(1).integers(0, 7, (128, 16)).astype(dtype)
    unsigned = np.dtype(f"u{x.itemsize}")

    def expected(a, b):
        return BITWISE[name](a.view(unsigned), b.astype(unsigned)).view(dtype)

    function = getattr(nl, name)
    same(run(function, x, y, target=target), expected(x, y))
    same(run(lambda a: function(a, 5), x, target=target), expected(x, np.full_like(x, 5)))
    column = y[:, :1].copy()
    same(run(function, x, column, target=target), expected(x, np.broadcast_to(column, x.shape)))
    wide = run(lambda a, b: function(a, b, dtype=nl.float32), x, y, target=target)
    same(wide, expected(x, y).astype(np.float32))
    same(run(nl.invert, x, target=target), ~x)
    same(run(lambda a: nl.invert(a, dtype=nl.float32), x), (~x).astype(np.float32))


def test_magnitudes_take_the_second_on_a_tie():
    x, y = floats((128, 24)), floats((128, 24), seed=1)
    y[64:] = -x[64:]
    for name, function in MAGNITUDE.items():
        same(run(getattr(nl, name), x, y), function(x, y))
        column = y[:, :1].copy()
        same(run(getattr(nl, name), x, column), function(x, column))


@pytest.mark.parametrize("name", MAGNITUDE)
@pytest.mark.parametrize("target", ["trn1", "trn2"])
def test_magnitudes_need_neuroncore_v4(name, target):
    with pytest.raises(nisa.NkiValidationError, match="operator-generation"):
        run(getattr(nl, name), floats((4, 8)), floats((4, 8)), target=target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_tile(name, target):
    x = np.random.default_rng(0).uniform(-3, 3, (128, 24)).astype(np.float32)
    expected = UNARY[name](x.astype(np.float64))
    function = getattr(nl, name)
    near(run(function, x, target=target), expected, rtol=2e-6, atol=2e-7)
    near(run(function, x, target=target, psum=(0,)), expected, rtol=2e-6, atol=2e-7)
    near(
        run(lambda a: function(a, dtype=nl.bfloat16), x, target=target),
        expected,
        rtol=2.0**-8,
        atol=2e-7,
    )


@pytest.mark.parametrize("name", POSITIVE)
def test_functions_of_positive_numbers(name):
    x = np.exp(np.random.default_rng(0).uniform(-40, 40, (128, 24))).astype(np.float32)
    near(run(getattr(nl, name), x), POSITIVE[name](x.astype(np.float64)), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "name", ["abs", "square", "relu", "sign", "exp", "tanh", "reciprocal", "copy", "sqrt"]
)
def test_special_values_of_one_tile(name):
    x = floats((8, 16))
    expected = {**UNARY, **POSITIVE}[name](x)
    near(run(getattr(nl, name), x), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_of_many_turns(name):
    x = np.linspace(-5e4, 5e4, 128 * 100, dtype=np.float32).reshape(128, 100)
    actual, expected = run(getattr(nl, name), x), getattr(np, name)(x.astype(np.float64))
    if name == "tan":
        kept = np.abs(expected) < 10
        actual, expected = actual[kept], expected[kept]
    near(actual, expected, rtol=0, atol=1e-6 if name != "tan" else 1e-4)
    assert run(nl.sin, np.full((1, 1), 9, np.float32)) == pytest.approx(math.sin(9), abs=1e-6)


def test_a_copy_keeps_every_bit():
    x = np.random.default_rng(0).integers(-(2**31), 2**31 - 1, (128, 8)).astype(np.int32)
    same(run(nl.copy, x), x)
    same(run(nl.copy, x, psum=(0,)), x)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.float8_e5m2, np.uint8, np.bool_])
def test_the_result_has_the_type_of_the_first_tile(dtype):
    x = (np.arange(64).reshape(8, 8) % 2).astype(dtype)
    y = np.ones((8, 8), np.float32)
    same(run(nl.multiply, x, y), x)
    assert run(nl.multiply, y, x).dtype == np.float32
    same(run(nl.equal, x, y), x)


def test_rsqrt_does_not_reach_psum():
    with pytest.raises(nisa.NkiValidationError, match="gpsimd-psum"):
        run(nl.rsqrt, np.ones((4, 4), np.float32), psum=(0,))


def test_words_stay_operators():
    assert pickle.loads(pickle.dumps(nl.add)) is nl.add
    assert {nl.add: 1}[nl.add] == 1
    assert repr(nl.add) == "nl.add"
    assert nl.add.__name__ == "add"

    @nki.jit
    def kernel(x, op):
        tile = nl.load(x)
        both = nl.ndarray(tile.shape, tile.dtype)
        nisa.tensor_tensor(both, tile, tile, op=op)
        out = nl.ndarray(tile.shape, tile.dtype, buffer=nl.shared_hbm)
        nl.store(out, op(both, 1))
        return out

    x = floats((4, 8))
    same(kernel(x, nl.add), x + x + 1)
    same(kernel(x, nl.multiply), x * x)
    assert kernel.trace(x, nl.add) is kernel.trace(x, nl.add)
    assert len(kernel._cache) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: nl.add(1, 2), "'x' and 'y' are numbers, 1 and 2"),
        (lambda t: nl.add(t, "1"), "'y': expected a tile or a number, got '1'"),
        (lambda t: nl.add(t, None), "'y': expected a tile or a number, got None"),
        (lambda t: nl.exp(3.0), "'x': expected a tile, got 3.0"),
        (lambda t: nl.exp(t, dtype="float64"), "'dtype': unknown data type"),
        (lambda t: nl.add(t, t[:, 0:3]), r"'t' has \(8, 8\), 't\[:, 0:3\]' has \(8, 3\)"),
        (lambda t: nl.add(t, t.expand_dim(1)), "shapes that do not broadcast"),
        (lambda t: nl.prelu(t), "an argument of instructions, not a function"),
        (lambda t: nl.bypass(t), "an argument of instructions, not a function"),
        (lambda t: nl.average(t), "an argument of instructions, not a function"),
        (lambda t: nl.bitwise_and(t, 1), "bitvec-dtype"),
        (lambda t: nl.left_shift(nl.copy(t, dtype=nl.int8), 1.5), "'operand0' must be an integer"),
    ],
)
def test_wrong_calls_name_the_argument(call, message):
    def kernel(x):
        call(nl.load(x))

    with pytest.raises(nisa.NkiValidationError, match=message) as caught:
        nki.jit(kernel).trace(nki.TensorSpec((8, 8), nl.float32)).verify()
    assert caught.value.diagnostics[0].where[0].file == __file__


def test_operands_stay_on_chip():
    def kernel(x):
        nl.add(x, x)

    with pytest.raises(nisa.NkiValidationError, match="'data1' must be in sbuf or psum"):
        nki.jit(kernel).trace(nki.TensorSpec((8, 8), nl.float32)).verify()


def test_outside_a_kernel_there_are_no_tiles():
    with pytest.raises(RuntimeError, match=r"nl\.add can only be called inside a kernel"):
        nl.add(1, 2)
