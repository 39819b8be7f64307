"""ALU operators, activation functions and reductions against the naive oracle."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracle import (
    SPECIAL,
    activation,
    alu,
    assert_close,
    bitvec,
    decode,
    f32,
    hard_floats,
    hard_values,
    reduce_sequential,
    unary,
)

from nkijit.dialects.operators import OPERATORS, AluKind
from nkijit.passes.numerics.operators import (
    ACTIVATION,
    BINARY,
    BITVEC,
    BITVEC_REDUCE,
    FOLD,
    IDENTITY,
    REDUCE,
    UNARY,
)

ULPS = {"exp": 3, "power": 3, "rsqrt": 2}
"""The allowed errors of NumPy's float32 functions, and of two successive roundings."""

ACTIVATION_ULPS = 2

COPIED = ("copy", "relu", "abs", "sign", "square", "sqrt", "reciprocal")
"""Activation functions with one correct float32 result."""

PLAIN = [name for name in ACTIVATION if name != "prelu"]


@pytest.fixture(autouse=True)
def as_in_a_plan() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def hard_numbers() -> Any:
    """Some float32 numbers of every kind, for all their pairs."""
    ordinary = [0.3, 0.5, 2.0, 2.5, 3.0, 7.0, 10.25, 100.0, 1e-3, 12345.678, 16777216.0]
    values = [sign * value for value in (*SPECIAL, *ordinary) for sign in (1, -1)]
    return np.array([*values, math.nan], np.float32)


def all_pairs(values: Any) -> tuple[Any, Any]:
    """Two square arrays: x changes from row to row, y from column to column."""
    x = np.repeat(values[:, None], len(values), axis=1)
    return x, x.T.copy()


def as_f32(values: Any) -> Any:
    return np.array(values, np.float32)


# -- completeness ---------------------------------------------------------------------------------


def alu_names(kind: AluKind, arity: int) -> set[str]:
    found = ((name, operator.alu) for name, operator in OPERATORS.items())
    return {name for name, alu in found if alu and alu.kind is kind and alu.arity == arity}


def test_every_operator_has_a_function_and_nothing_else_has() -> None:
    assert set(BINARY) == alu_names(AluKind.arithmetic, 2)
    assert set(UNARY) == alu_names(AluKind.arithmetic, 1)
    assert set(BITVEC) == alu_names(AluKind.bitvec, 1) | alu_names(AluKind.bitvec, 2)
    assert set(ACTIVATION) == {name for name, operator in OPERATORS.items() if operator.activation}


def test_parametric_activations_are_prelu() -> None:
    activations = {name: operator.activation for name, operator in OPERATORS.items()}
    assert {name for name, known in activations.items() if known and known.parametric} == {"prelu"}


def test_every_reduction_has_a_function() -> None:
    reducible = {
        name: operator.alu.kind
        for name, operator in OPERATORS.items()
        if operator.alu and operator.alu.reducible
    }
    arithmetic = {name for name, kind in reducible.items() if kind is AluKind.arithmetic}
    assert set(BITVEC_REDUCE) == set(reducible) - arithmetic
    # abs_max and abs_min are for the accumulators of activate2 only.
    assert set(REDUCE) == set(FOLD) == arithmetic | {"abs_max", "abs_min"}
    sums = {"add", "subtract", "multiply"}
    assert set(IDENTITY) == sums | {"maximum", "minimum", "abs_max", "abs_min"}


# -- ALU operators --------------------------------------------------------------------------------


@pytest.mark.parametrize("op", BINARY)
def test_binary_on_all_pairs(op: str) -> None:
    numbers = hard_numbers()
    x, y = all_pairs(numbers)
    out = np.empty_like(x)
    BINARY[op](x, y, out)
    expected = [[alu(op, a, b) for b in numbers.tolist()] for a in numbers.tolist()]
    # Of maximum and minimum, NumPy chooses between +0.0 and -0.0.
    signed = op not in ("maximum", "minimum")
    assert_close(out, expected, ulps=ULPS.get(op, 0), sign_of_zero=signed, inputs=[x, y])


@pytest.mark.parametrize("op", BINARY)
def test_binary_on_ordinary_data(op: str) -> None:
    x, y = hard_values((64, 40), seed=1), hard_values((64, 40), seed=2)
    out = np.empty_like(x)
    BINARY[op](x, y, out)
    pairs = zip(x.ravel().tolist(), y.ravel().tolist(), strict=True)
    expected = np.reshape([alu(op, a, b) for a, b in pairs], x.shape)
    assert_close(out, expected, ulps=ULPS.get(op, 0), inputs=[x, y])


@pytest.mark.parametrize("op", BINARY)
def test_binary_broadcasts_and_writes_over_its_operands(op: str) -> None:
    x, y = hard_values((8, 33), seed=3), hard_values((8, 33), seed=4)
    column, number = y[:, 5:6].copy(), np.float32(-2.5)
    for first, second in ((x, y), (x, column), (column, x), (x, number), (number, x), (x, x)):
        expected = np.empty_like(x)
        BINARY[op](first.copy(), second.copy(), expected)
        out = x.copy()
        BINARY[op](out if first is x else first, out if second is x else second, out)
        assert_close(out, expected, sign_of_zero=True)
    wide = np.full((8, 66), 7, np.float32)
    BINARY[op](x[::-1], y, wide[:, ::2])
    expected = np.empty_like(x)
    BINARY[op](x[::-1].copy(), y, expected)
    assert_close(wide[:, ::2], expected, sign_of_zero=True)
    assert (wide[:, 1::2] == 7).all()


def test_documented_examples_of_abs_max_and_abs_min() -> None:
    x, y = as_f32([-5, 1, 5, math.nan, 1]), as_f32([3, -1, -3, 1, math.nan])
    out = np.empty(5, np.float32)
    BINARY["abs_max"](x, y, out)
    assert_close(out, [-5, -1, 5, 1, math.nan])
    BINARY["abs_min"](x, y, out)
    assert_close(out, [3, -1, -3, 1, math.nan])


@pytest.mark.parametrize("op", UNARY)
def test_unary(op: str) -> None:
    x = np.concatenate([hard_numbers(), hard_values((2000,))])
    expected = [unary(op, a) for a in x.tolist()]
    out = np.empty_like(x)
    UNARY[op](x, out)
    assert_close(out, expected, ulps=ULPS.get(op, 0), inputs=[x], sign_of_zero=op != "relu")
    UNARY[op](x, x)
    assert_close(x, out, sign_of_zero=True)


INTEGER_TYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32]


def check_bitvec(op: str, x: Any, y: Any) -> None:
    limits = np.iinfo(x.dtype)
    out = np.empty_like(x)
    BITVEC[op](*((x, out) if op == "invert" else (x, y, out)))
    pairs = zip(x.ravel().tolist(), y.ravel().tolist(), strict=True)
    expected = [bitvec(op, a, b, limits.bits, limits.min < 0) for a, b in pairs]
    assert out.ravel().tolist() == expected
    over = x.copy()
    BITVEC[op](*((over, over) if op == "invert" else (over, y, over)))
    assert np.array_equal(over, out)


@pytest.mark.parametrize("op", BITVEC)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_bitvec_on_all_pairs_of_bytes(op: str, dtype: Any) -> None:
    every = np.arange(256, dtype=np.uint8).view(dtype)
    x, y = all_pairs(every)
    check_bitvec(op, x, y)


@pytest.mark.parametrize("op", BITVEC)
@pytest.mark.parametrize("dtype", INTEGER_TYPES)
@settings(max_examples=40)
@given(data=st.data())
def test_bitvec(op: str, dtype: Any, data: st.DataObject) -> None:
    limits = np.iinfo(dtype)
    any_value = st.integers(int(limits.min), int(limits.max))
    amount = st.integers(0, limits.bits + 1) | any_value
    size = data.draw(st.integers(1, 8))
    x = data.draw(st.lists(any_value, min_size=size, max_size=size))
    y = data.draw(st.lists(amount, min_size=size, max_size=size))
    check_bitvec(op, np.array(x, dtype), np.array(y, dtype))


def test_shifts_fill_with_zeros_and_shift_everything_out() -> None:
    x = np.array([-1, -1, -1, -1], np.int32)
    amounts = np.array([1, 31, 32, -1], np.int32)
    out = np.empty_like(x)
    BITVEC["right_shift"](x, amounts, out)
    assert out.tolist() == [2**31 - 1, 1, 0, 0]
    BITVEC["left_shift"](x, amounts, out)
    assert out.tolist() == [-2, -(2**31), 0, 0]
    BITVEC["left_shift"](x[:, None], amounts[:1, None], out[:, None])
    assert out.tolist() == [-2] * 4


# -- activation functions -------------------------------------------------------------------------


def every_bfloat16() -> Any:
    """All the bfloat16 numbers: float32 numbers of every size, infinities and NaN."""
    return (np.arange(2**16, dtype=np.uint32) << 16).view(np.float32)


def check_activation(op: str, x: Any) -> None:
    out = np.empty_like(x)
    ACTIVATION[op](x, out)
    expected = [activation(op, a) for a in x.ravel().tolist()]
    ulps = ULPS.get(op, ACTIVATION_ULPS)
    if op in COPIED:
        ulps, expected = 0, [f32(value) for value in expected]
    assert_close(out, np.reshape(expected, x.shape), ulps=ulps, inputs=[x])


@pytest.mark.parametrize("op", PLAIN)
def test_activation_on_numbers_of_every_size(op: str) -> None:
    check_activation(op, every_bfloat16().reshape(128, 512))


@pytest.mark.parametrize("op", PLAIN)
def test_activation_where_it_bends(op: str) -> None:
    rng = np.random.default_rng(0)
    near = rng.uniform(-4, 4, 6000)
    far = rng.uniform(-110, 110, 3000)
    check_activation(op, np.concatenate([near, far]).astype(np.float32)[None])


@pytest.mark.parametrize(
    ("op", "low", "high"),
    [("gelu_dx", -0.7518, -0.7517), ("silu_dx", -1.27847, -1.27845), ("log", 0.999, 1.001)],
)
def test_activation_near_its_zero(op: str, low: float, high: float) -> None:
    check_activation(op, np.linspace(low, high, 4001, dtype=np.float32)[None])


@pytest.mark.parametrize("op", PLAIN)
@settings(max_examples=40)
@given(values=st.lists(hard_floats(), min_size=1, max_size=20))
def test_activation_on_hard_floats(op: str, values: list[float]) -> None:
    check_activation(op, as_f32([values]))


@pytest.mark.parametrize("op", PLAIN)
def test_activation_of_any_layout_and_in_place(op: str) -> None:
    # Large enough for several blocks of rows, the last one short.
    x = hard_values((70, 600), seed=7)
    expected = np.empty_like(x)
    ACTIVATION[op](x, expected)
    out = np.full((70, 1200), 7, np.float32)
    ACTIVATION[op](x, out[:, ::2])
    assert_close(out[:, ::2], expected, ulps=1)
    assert (out[:, 1::2] == 7).all()
    transposed = np.empty((600, 70), np.float32)
    ACTIVATION[op](x.T, transposed)
    assert_close(transposed, expected.T, ulps=1)
    column = np.empty((70, 1), np.float32)
    ACTIVATION[op](x[:, 3:4], column)
    assert_close(column, expected[:, 3:4], ulps=1)
    row = np.empty((1, 42000), np.float32)
    ACTIVATION[op](x.reshape(1, -1), row)
    assert_close(row, expected.reshape(1, -1), ulps=1)
    ACTIVATION[op](x, x)
    assert_close(x, expected, sign_of_zero=True)


LIMITS = {
    # name: at -inf, at -0.0, at +0.0, at +inf
    "copy": (-math.inf, -0.0, 0.0, math.inf),
    "square": (math.inf, 0, 0, math.inf),
    "sigmoid": (0, 0.5, 0.5, 1),
    "relu": (0, 0, 0, math.inf),
    "gelu": (0, 0, 0, math.inf),
    "gelu_dx": (0, 0.5, 0.5, 1),
    "gelu_apprx_tanh": (0, 0, 0, math.inf),
    "gelu_apprx_sigmoid": (0, 0, 0, math.inf),
    "gelu_apprx_sigmoid_dx": (0, 0.5, 0.5, 1),
    "silu": (0, 0, 0, math.inf),
    "silu_dx": (0, 0.5, 0.5, 1),
    "tanh": (-1, -0.0, 0.0, 1),
    "softplus": (0, f32(math.log(2)), f32(math.log(2)), math.inf),
    "mish": (0, 0, 0, math.inf),
    "erf": (-1, -0.0, 0.0, 1),
    "erf_dx": (0, f32(2 / math.sqrt(math.pi)), f32(2 / math.sqrt(math.pi)), 0),
    "exp": (0, 1, 1, math.inf),
    "log": (math.nan, -math.inf, -math.inf, math.inf),
    "sin": (-math.inf, -0.0, 0.0, math.inf),
    "arctan": (-f32(math.pi / 2), -0.0, 0.0, f32(math.pi / 2)),
    "sqrt": (math.nan, -0.0, 0.0, math.inf),
    "rsqrt": (math.nan, -math.inf, math.inf, 0),
    "reciprocal": (-0.0, -math.inf, math.inf, 0.0),
    "sign": (-1, 0, 0, 1),
    "abs": (math.inf, 0, 0, math.inf),
}

ODD = ("copy", "tanh", "erf", "sin", "arctan", "reciprocal")


@pytest.mark.parametrize("op", PLAIN)
def test_activation_at_infinity_zero_and_nan(op: str) -> None:
    x = as_f32([[-math.inf, -0.0, 0.0, math.inf, math.nan]])
    ACTIVATION[op](x, x)
    assert_close(x, [[*LIMITS[op], math.nan]], sign_of_zero=op in ODD)


@pytest.mark.parametrize("op", ["gelu", "silu", "gelu_apprx_sigmoid"])
def test_derivatives_are_derivatives(op: str) -> None:
    step = 1e-6
    x = as_f32([np.linspace(-6, 6, 97)])
    out = np.empty_like(x)
    ACTIVATION[f"{op}_dx"](x, out)
    slopes = [
        (activation(op, a + step) - activation(op, a - step)) / (2 * step) for a in x[0].tolist()
    ]
    assert_close(out, [slopes], absolute=1e-7)


@pytest.mark.parametrize("relu_param", [0.0, 0.25, -1.5, 1.0])
def test_prelu(relu_param: float) -> None:
    x = np.concatenate([hard_numbers(), hard_values((2000,))])[None]
    expected = [[f32(activation("prelu", a, relu_param)) for a in x[0].tolist()]]
    out = np.empty_like(x)
    ACTIVATION["prelu"](x, np.float32(relu_param), out)
    assert_close(out, expected, inputs=[x])
    ACTIVATION["prelu"](x, as_f32([[relu_param]]), x)
    assert_close(x, expected)


def test_prelu_with_a_parameter_in_each_partition() -> None:
    x, slopes = as_f32([[-2, 2, -math.inf]] * 3), as_f32([[0], [0.5], [-1]])
    ACTIVATION["prelu"](x, slopes, x)
    assert_close(x, [[0, 2, 0], [-1, 2, -math.inf], [2, 2, math.inf]])


def test_sin_extrapolates_a_cubic_outside_pi() -> None:
    x = as_f32([[9.0, -9.0, 9.5, 10.0, 10.5, 11.0]])
    out = np.empty_like(x)
    ACTIVATION["sin"](x, out)
    # The value that the documents give, to the digits they give.
    assert round(float(out[0, 0]), 2) == 27.65
    assert out[0, 0] == -out[0, 1]
    # Equal steps: the third difference of a cubic is constant, the fourth zero.
    assert abs(np.diff(out[0, [0, 2, 3, 4, 5]].astype(np.float64), 4)[0]) < 1e-4


def test_sin_joins_at_pi() -> None:
    near = math.pi + np.linspace(-1e-3, 1e-3, 2001)
    x = as_f32([near, -near])
    out = np.empty_like(x)
    ACTIVATION["sin"](x, out)
    assert_close(out, np.sin(x.astype(np.float64)), absolute=1e-9, ulps=2)


# -- reductions -----------------------------------------------------------------------------------

EXACT = [op for op in REDUCE if op not in ("add", "multiply")]

TIES = as_f32([0, 0, -0.0, -0.0, 1, -1, 2, -2, math.inf, -math.inf, math.nan])
"""Numbers whose magnitudes tie, with NaN now and then."""


def check_reductions(op: str, acc: Any, x: Any) -> None:
    rows = x.tolist()
    folded = [[reduce_sequential(op, a, row)] for (a,), row in zip(acc.tolist(), rows, strict=True)]
    before = acc.copy(), x.copy()
    # Which of +0.0 and -0.0 is the maximum, NumPy decides: see the test of zeros.
    signed = op not in ("maximum", "minimum")
    assert_close(FOLD[op](acc, x), folded, sign_of_zero=signed)
    if op.startswith("logical") and x.shape[1] == 1:
        reduced = [[float(row[0] != 0)] for row in rows]
    else:
        reduced = [[reduce_sequential(op, row[0], row[1:])] for row in rows]
    assert_close(REDUCE[op](x), reduced, sign_of_zero=signed)
    assert FOLD[op](acc, x).dtype == REDUCE[op](x).dtype == np.float32
    assert_close(acc, before[0], sign_of_zero=True)
    assert_close(x, before[1], sign_of_zero=True)


@pytest.mark.parametrize("op", EXACT)
@pytest.mark.parametrize("size", [1, 2, 3, 8, 33])
def test_reductions_are_those_of_single_steps(op: str, size: int) -> None:
    rng = np.random.default_rng(size)
    # With NaN, without NaN, and zeros only.
    for numbers in (TIES, TIES[:-1], TIES[:4]):
        check_reductions(op, rng.choice(numbers, (60, 1)), rng.choice(numbers, (60, size)))


@pytest.mark.parametrize("op", ["maximum", "minimum"])
def test_extremes_among_zeros_are_those_of_single_steps(op: str) -> None:
    rng = np.random.default_rng(14)
    for size in (1, 7, 64, 100):
        acc = rng.choice(TIES[1:3], (40, 1))
        x = rng.choice(TIES[1:3], (40, size))
        expected = acc.copy()
        for column in range(size):
            BINARY[op](expected, x[:, column : column + 1], expected)
        assert_close(FOLD[op](acc, x), expected, sign_of_zero=True)


@pytest.mark.parametrize("op", EXACT)
def test_reductions_of_hard_data(op: str) -> None:
    x = hard_values((16, 200), seed=8)
    check_reductions(op, hard_values((16, 1), seed=9), x)
    # Without NaN, and any layout.
    x = np.nan_to_num(x, nan=1.0, posinf=math.inf, neginf=-math.inf)
    check_reductions(op, x[:, 4:5].copy(), x[::-1, ::3])
    check_reductions(op, x.T[:, 4:5].copy(), x.T)


@pytest.mark.parametrize("op", EXACT)
@settings(max_examples=40)
@given(data=st.data())
def test_reductions_of_hard_floats(op: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(hard_floats(), min_size=2, max_size=12))
    check_reductions(op, as_f32([values[:1]]), as_f32([values[1:]]))


@pytest.mark.parametrize("op", ["add", "multiply"])
def test_sums_and_products_in_any_order(op: str) -> None:
    rng = np.random.default_rng(10)
    acc, x = rng.uniform(0.5, 1.5, (32, 1)), rng.uniform(0.9, 1.1, (32, 512))
    acc, x = acc.astype(np.float32), x.astype(np.float32)
    exact = math.fsum if op == "add" else math.prod
    folded = [[exact([*start, *row])] for start, row in zip(acc.tolist(), x.tolist(), strict=True)]
    assert_close(FOLD[op](acc, x), folded, ulps=60)
    assert_close(REDUCE[op](x), [[exact(row)] for row in x.tolist()], ulps=60)


@pytest.mark.parametrize("op", ["add", "multiply"])
def test_sums_and_products_that_are_exact_in_every_order(op: str) -> None:
    numbers = as_f32([0, 1, 2, -1, -2, math.inf, math.nan])
    rng = np.random.default_rng(11)
    for kinds in (5, 6, 7):
        acc, x = rng.choice(numbers[:kinds], (60, 1)), rng.choice(numbers[:kinds], (60, 9))
        rows = zip(acc.tolist(), x.tolist(), strict=True)
        assert_close(FOLD[op](acc, x), [[reduce_sequential(op, a, row)] for (a,), row in rows])
        reduced = [[reduce_sequential(op, row[0], row[1:])] for row in x.tolist()]
        assert_close(REDUCE[op](x), reduced)


@pytest.mark.parametrize("op", sorted(set(IDENTITY) - {"subtract"}))
def test_folding_into_the_identity_is_reducing(op: str) -> None:
    ties = np.random.default_rng(12).choice(TIES, (20, 30))
    x = np.concatenate([hard_values((20, 30), seed=12), ties])
    identity = np.full((40, 1), IDENTITY[op], np.float32)
    assert_close(FOLD[op](identity, x), REDUCE[op](x))


@pytest.mark.parametrize("op", BITVEC_REDUCE)
@pytest.mark.parametrize("dtype", INTEGER_TYPES)
def test_bitvec_reductions(op: str, dtype: Any) -> None:
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(13)
    x = rng.integers(limits.min, limits.max, (20, 17), dtype, endpoint=True)
    reduced = BITVEC_REDUCE[op](x)
    assert reduced.dtype == dtype
    expected: list[list[int]] = []
    for first, *rest in x.tolist():
        for value in rest:
            first = bitvec(op, first, value, limits.bits, limits.min < 0)
        expected.append([first])
    assert reduced.tolist() == expected


# -- the oracle -----------------------------------------------------------------------------------


def test_oracle_knows_the_same_words() -> None:
    for op, x in product(ACTIVATION, (-1.0, 2.0)):
        assert isinstance(float(activation(op, x)), float)
    for op in BINARY:
        assert isinstance(alu(op, 1.0, 2.0), float)


@given(st.integers(0, 2**32 - 1))
def test_oracle_decodes_float32(bits: int) -> None:
    value = np.array([bits], np.uint32).view(np.float32)
    assert_close(value, [decode("float32", bits)], sign_of_zero=True)
