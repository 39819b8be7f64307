"""Every instruction of the classic API against NumPy: whole tiles, masks, `dtype=`."""

# pyright: reportMissingParameterType=false, reportUnknownParameterType=false
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import nkijit
import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl
from nkijit import language as words

Array = npt.NDArray[Any]
P, F = 128, 48
RNG = np.random.default_rng(7)


def whole_numbers(*shape: int, dtype: Any = np.float32) -> Array:
    """Small integers, whose sums and products float32 has exactly; none is zero."""
    return (RNG.integers(1, 8, shape) * RNG.choice([-1, 1], shape)).astype(dtype)


DATA, OTHER, COLUMN = whole_numbers(P, F), whole_numbers(P, F), whole_numbers(P, 1)
WORDS = RNG.integers(0, 2**31, (P, F)).astype(np.int32)


@dataclass(frozen=True)
class Case:
    """An instruction that returns a tile."""

    name: str
    arrays: dict[str, Array]
    oracle: Callable[..., Array]
    """Of arrays by name, to the result, which is float64 or an integer type."""
    fixed: dict[str, Any] = field(default_factory=dict)
    lanes: tuple[str, ...] = ()
    """Operands that have the partitions only in common with the others."""
    across: bool = False
    """The result has other free dimensions than the operands."""
    exact: bool = True

    def __str__(self) -> str:
        return self.name

    def call(self, tiles: dict[str, Any], **options: Any) -> Any:
        """The instruction, on tiles."""
        return getattr(nisa, self.name)(**tiles, **self.fixed, **options)

    def check(self, got: Array, expected: Array, dtype: Any = None) -> None:
        """Compare with the oracle, rounded to the data type of the result."""
        wanted = expected.astype(got.dtype if dtype is None else dtype)
        assert got.shape == wanted.shape
        if self.exact:
            np.testing.assert_array_equal(got, wanted)
        else:
            rtol = 2e-6 if wanted.dtype == np.float32 else 1e-2
            np.testing.assert_allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=rtol)


def scanned(data0: Array, data1: Array, initial: Any) -> Array:
    result = np.zeros(data0.shape)
    state = np.broadcast_to(np.asarray(initial, np.float64).reshape(-1), data0.shape[:1])
    for i in range(data0.shape[1]):
        state = np.maximum(data0[:, i], state) - data1[:, i]
        result[:, i] = state
    return result


def statistics(data: Array) -> Array:
    parts = []
    for first in (0, 1):
        chosen = data[:, first::2].astype(np.float64)
        count = np.full(len(data), chosen.shape[1])
        parts += [count, chosen.mean(1), chosen.var(1) * count]
    return np.stack(parts, 1)


def matched(data: Array, vals: Array) -> Array:
    result = data.astype(np.float64)
    for row, wanted in zip(result, vals, strict=True):
        for value in wanted:
            row[np.flatnonzero(row == value)[:1]] = -99.0
    return result


DISTINCT = RNG.permuted(np.tile(np.arange(F), (P, 1)), axis=1).astype(np.float32)
LARGEST = np.tile(np.arange(F - 1, F - 9, -1), (P, 1)).astype(np.float32)

ELEMENTWISE = [
    Case(
        "activation",
        {"data": DATA, "bias": COLUMN, "scale": COLUMN},
        lambda data, bias, scale: np.square(data * scale.astype(np.float64) + bias),
        {"op": np.square},
        ("bias", "scale"),
    ),
    Case(
        "activation",
        {"data": DATA},
        lambda data: np.exp(data, dtype=np.float64),
        {"op": np.exp},
        exact=False,
    ),
    Case(
        "tensor_tensor",
        {"data1": DATA, "data2": OTHER},
        lambda data1, data2: data1 - data2,
        {"op": np.subtract},
    ),
    Case(
        "tensor_tensor",
        {"data1": WORDS, "data2": WORDS[:, ::-1].copy()},
        lambda data1, data2: data1 ^ data2,
        {"op": words.bitwise_xor},
    ),
    Case(
        "scalar_tensor_tensor",
        {"data": DATA, "operand0": COLUMN, "operand1": OTHER},
        lambda data, operand0, operand1: operand1 - operand0 * data,
        {"op0": np.multiply, "op1": np.subtract, "reverse1": True},
        ("operand0",),
    ),
    Case(
        "tensor_scalar",
        {"data": DATA, "operand0": COLUMN},
        lambda data, operand0: np.maximum(operand0 - data, 2.5),
        {"op0": np.subtract, "reverse0": True, "op1": np.maximum, "operand1": 2.5},
        ("operand0",),
    ),
    Case(
        "tensor_scalar",
        {"data": DATA, "operand0": COLUMN.astype(ml_dtypes.bfloat16)},
        lambda data, operand0: data * operand0.astype(np.float64),
        {"op0": np.multiply},
        ("operand0",),
    ),
    Case(
        "tensor_scalar",
        {"data": WORDS},
        lambda data: data & 255,
        {"op0": words.bitwise_and, "operand0": 255},
    ),
    Case("tensor_copy", {"src": DATA}, lambda src: src),
    Case("reciprocal", {"data": DATA}, lambda data: 1 / data.astype(np.float64), exact=False),
    Case(
        "reciprocal",
        {"data": DATA},
        lambda data: 1 / data.astype(np.float64),
        {"engine": 0},
        exact=False,
    ),
    Case("dropout", {"data": DATA}, lambda data: data, {"prob": 0.0}),
    Case(
        "dropout",
        {"data": DATA, "prob": (COLUMN > 0).astype(np.float32)},
        lambda data, prob: np.where(prob > 0, 0, data),
        lanes=("prob",),
    ),
]
OVER_BLOCKS = [
    Case(
        "tensor_tensor_scan",
        {"data0": DATA, "data1": OTHER, "initial": COLUMN},
        scanned,
        {"op0": np.maximum, "op1": np.subtract},
        ("initial",),
    ),
    Case(
        "range_select",
        {"on_true_tile": DATA, "bound0": COLUMN + 12, "bound1": COLUMN + 30},
        lambda on_true_tile, bound0, bound1: np.where(
            (np.arange(on_true_tile.shape[1]) + 5 >= bound0)
            & (np.arange(on_true_tile.shape[1]) + 5 < bound1),
            on_true_tile,
            nisa.fp32.min,
        ),
        {"comp_op0": np.greater_equal, "comp_op1": np.less, "range_start": 5},
        ("bound0", "bound1"),
    ),
    Case(
        "nc_match_replace8", {"data": DISTINCT, "vals": LARGEST}, matched, {"imm": -99.0}, ("vals",)
    ),
]
ACROSS = [
    Case(
        "tensor_reduce",
        {"data": DATA},
        lambda data: data.sum(1, keepdims=True),
        {"op": np.add, "axis": 1, "keepdims": True},
        across=True,
    ),
    Case(
        "tensor_reduce",
        {"data": DATA},
        lambda data: -data.max(1, keepdims=True),
        {"op": np.max, "axis": [1], "negate": True},
        across=True,
    ),
    Case("bn_stats", {"data": DATA}, statistics, across=True, exact=False),
    Case("max8", {"src": DATA}, lambda src: -np.sort(-src, 1)[:, :8], across=True),
]
UNMASKED = [
    Case(
        "tensor_partition_reduce",
        {"data": DATA},
        lambda data: data.sum(0, keepdims=True),
        {"op": np.add},
    ),
    Case("nc_transpose", {"data": DATA}, lambda data: data.T),
    Case("nc_transpose", {"data": DATA[:32, :20].copy()}, lambda data: data.T),
    Case("dma_transpose", {"src": DATA}, lambda src: src.T),
    Case(
        "nc_find_index8",
        {"data": DISTINCT, "vals": LARGEST},
        lambda data, vals: np.argsort(-data, 1)[:, :8].astype(np.uint32),
    ),
    Case(
        "nc_matmul",
        {"stationary": DATA, "moving": OTHER},
        lambda stationary, moving: stationary.T @ moving,
    ),
    Case(
        "sequence_bounds",
        {"segment_ids": np.array([[1, 1, 2, 0, 3]], np.int32)},
        lambda segment_ids: np.array([[[0, 0, 2, 5, 4], [2, 2, 3, -1, 5]]]),
    ),
    Case(
        "bn_aggr",
        {"data": statistics(DATA).astype(np.float32)},
        lambda data: np.stack([DATA.mean(1, dtype=np.float64), DATA.var(1, dtype=np.float64)], 1),
        exact=False,
    ),
]


def run(case: Case, arrays: dict[str, Array], target: str = "trn2", **options: Any) -> Array:
    """The result of a call, stored as a whole."""
    names = list(arrays)

    @nki.jit(platform_target=target)
    def kernel(*given):
        tiles = {name: nl.load(a) for name, a in zip(names, given, strict=True)}
        result = case.call(tiles, **options)
        out = nl.ndarray(result.shape, dtype=result.dtype, buffer=nl.shared_hbm)
        nl.store(out, result)
        return out

    return np.asarray(kernel(*arrays.values()))


@pytest.mark.parametrize("case", [*ELEMENTWISE, *OVER_BLOCKS, *ACROSS, *UNMASKED], ids=str)
@pytest.mark.parametrize("target", ["trn1", "trn2"])
def test_whole_tiles(case: Case, target: str) -> None:
    if (case.name, target) == ("range_select", "trn1"):
        pytest.skip("range_select needs NeuronCore-v3")
    got = run(case, case.arrays, target)
    expected = case.oracle(**case.arrays)
    default = next(iter(case.arrays.values())).dtype
    assert got.dtype == (np.uint32 if case.name == "nc_find_index8" else default)
    case.check(got, expected)


FLOATS = [
    case
    for case in (*ELEMENTWISE, *OVER_BLOCKS, *ACROSS, *UNMASKED)
    if case.exact
    and all(a.dtype.kind != "i" for a in case.arrays.values())
    and case.name not in ("nc_matmul", "nc_find_index8", "range_select")
]
"""Instructions that accept any data type and return integers."""


@pytest.mark.parametrize("case", FLOATS, ids=str)
@pytest.mark.parametrize("dtype", [np.dtype(ml_dtypes.bfloat16), np.int32], ids=str)
def test_the_result_has_the_given_dtype(case: Case, dtype: Any) -> None:
    expected = case.oracle(**case.arrays)
    got = run(case, case.arrays, dtype=dtype)
    assert got.dtype == dtype
    if np.dtype(dtype).kind == "i":
        assert np.all(np.abs(got.astype(np.float64) - expected) < 1)
        whole = expected == np.rint(expected)
        np.testing.assert_array_equal(got[whole], expected[whole].astype(np.int64))
    else:
        case.check(got, expected)


def test_dtypes_that_instructions_restrict() -> None:
    (find,) = [case for case in UNMASKED if case.name == "nc_find_index8"]
    got = run(find, find.arrays, dtype=np.uint16)
    assert got.dtype == np.uint16
    np.testing.assert_array_equal(got, find.oracle(**find.arrays))
    (bounds,) = [case for case in UNMASKED if case.name == "sequence_bounds"]
    got = run(bounds, bounds.arrays, dtype=np.float32)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, bounds.oracle(**bounds.arrays))
    (matmul,) = [case for case in UNMASKED if case.name == "nc_matmul"]
    halves = {name: a.astype(ml_dtypes.bfloat16) for name, a in matmul.arrays.items()}
    assert run(matmul, halves).dtype == np.float32


SPECIAL = np.array([[np.inf, -np.inf, np.nan, 0.0, -0.0, 3e38]], np.float32)


@pytest.mark.parametrize("data", [SPECIAL, np.array([[2.0]], np.float32)], ids=["special", "one"])
@pytest.mark.parametrize(
    ("call", "oracle"),
    [
        (lambda t: nisa.tensor_copy(t), lambda a: a),
        (lambda t: nisa.reciprocal(t), lambda a: 1 / a),
        (lambda t: nisa.tensor_tensor(t, t, np.add), lambda a: a + a),
        (lambda t: nisa.tensor_scalar(t, np.multiply, 0.0), lambda a: a * np.float32(0)),
        (lambda t: nisa.activation(np.square, t, scale=2.0), lambda a: np.square(a * 2)),
        (lambda t: nisa.tensor_reduce(np.add, t, 1), lambda a: a.sum(1)),
        (lambda t: nisa.nc_transpose(t, engine=nisa.vector_engine), lambda a: a.T),
    ],
)
def test_infinities_nan_and_single_elements(
    data: Array, call: Callable[..., Any], oracle: Callable[..., Array]
) -> None:
    @nki.jit(platform_target="trn2")
    def kernel(a):
        result = call(nl.load(a))
        out = nl.ndarray(result.shape, dtype=result.dtype, buffer=nl.shared_hbm)
        nl.store(out, result)
        return out

    with np.errstate(all="ignore"):
        expected = oracle(data)
    got = np.asarray(kernel(data))
    np.testing.assert_array_equal(got.reshape(expected.shape), expected)


STARTS = [(0, 70, 3, 40), (64, 65, 0, 41), (32, 50, 11, 47)]


MASKED = [case for case in (*ELEMENTWISE, *OVER_BLOCKS, *ACROSS) if case.name != "range_select"]


@pytest.mark.parametrize("case", MASKED, ids=str)
@pytest.mark.parametrize("block", STARTS, ids=str)
def test_a_mask_computes_its_block(case: Case, block: tuple[int, int, int, int]) -> None:
    p0, p1, f0, f1 = block
    cropped = {
        name: a[p0:p1] if name in case.lanes else a[p0:p1, f0:f1] for name, a in case.arrays.items()
    }
    expected = case.oracle(**cropped)
    names = list(case.arrays)
    width = expected.shape[1] if case.across else F

    @nki.jit(platform_target="trn2")
    def kernel(*given):
        tiles = {name: nl.load(a) for name, a in zip(names, given, strict=True)}
        i, j = nl.mgrid[0:P, 0:F]
        mask = (i >= p0) & (i < p1) & (j >= f0) & (j < f1)
        dtype = next(iter(tiles.values())).dtype
        result = nl.full((P, width), 77, dtype=dtype)
        result[...] = case.call(tiles, mask=mask)
        out = nl.ndarray(result.shape, dtype=result.dtype, buffer=nl.shared_hbm)
        nl.store(out, result)
        return out

    got = np.asarray(kernel(*case.arrays.values()))
    inside = got[p0:p1] if case.across else got[p0:p1, f0:f1]
    case.check(inside, expected)
    outside = np.ones(got.shape, bool)
    outside[p0:p1, :] = outside[p0:p1, :] & (not case.across)
    if not case.across:
        outside[p0:p1, f0:f1] = False
    assert np.all(got[outside] == 77)


@pytest.mark.parametrize("partitions", [1, 2, 128])
@pytest.mark.parametrize("swapped", [False, True])
def test_one_element_per_partition_goes_with_tiles_of_any_rank(
    partitions: int, swapped: bool
) -> None:
    """For example as a bias of an image block: an element applies to its partition."""

    @nki.jit
    def kernel(data, column):
        out = nl.ndarray(data.shape, dtype=data.dtype, buffer=nl.shared_hbm)
        operands = nl.load(data), nl.load(column)
        first, second = reversed(operands) if swapped else operands
        nl.store(out, nisa.tensor_tensor(first, second, np.subtract))
        return out

    data, column = whole_numbers(partitions, 2, 22), whole_numbers(partitions, 1)
    wide = column.reshape(partitions, 1, 1)
    assert np.array_equal(kernel(data, column), wide - data if swapped else data - wide)


def test_tiles_of_other_sizes_do_not_go_together() -> None:
    @nki.jit
    def kernel(data, other):
        out = nl.ndarray(data.shape, dtype=data.dtype, buffer=nl.shared_hbm)
        nl.store(out, nisa.tensor_tensor(nl.load(data), nl.load(other), np.add))
        return out

    with pytest.raises(nkijit.NkiValidationError, match="operands that do not fit together"):
        kernel(whole_numbers(P, 2, 22), whole_numbers(P, 22, 3))
