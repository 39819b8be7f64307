"""nl.matmul, nl.transpose and nl.load_transpose2d."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.isa import NkiValidationError

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def brought_out(tile: Any) -> Any:
    """A copy of a tile in HBM."""
    out = nl.ndarray(tile.shape, tile.dtype, buffer=nl.shared_hbm)
    copied = nl.ndarray(tile.shape, tile.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(copied, tile)
    nisa.dma_copy(out, copied)
    return out


@nki.jit
def multiply(x: Any, y: Any, transpose_x: bool = False) -> Any:
    result = nl.matmul(nl.load(x), nl.load(y), transpose_x=transpose_x)
    assert (result.buffer, result.dtype) == (nl.psum, nl.float32)
    return brought_out(result)


@nki.jit
def turn(x: Any, dtype: Any = None, from_psum: bool = False) -> Any:
    tile = nl.load(x)
    if from_psum:
        staged = nl.ndarray(tile.shape, tile.dtype, buffer=nl.psum)
        nisa.tensor_copy(staged, tile)
        tile = staged
    result = nl.transpose(tile) if dtype is None else nl.transpose(tile, dtype=dtype)
    assert (result.buffer, result.dtype) == (nl.psum, dtype or tile.dtype)
    return brought_out(result)


@nki.jit
def load(x: Any, dtype: Any = None) -> Any:
    result = nl.load_transpose2d(x, dtype)
    assert (result.buffer, result.dtype) == (nl.sbuf, dtype or x.dtype)
    return brought_out(result)


def whole(shape: tuple[int, ...], dtype: Any = np.float32, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32).astype(dtype)


SIZES = [(128, 128, 512), (1, 1, 1), (3, 5, 7), (128, 1, 2), (2, 128, 33)]


@pytest.mark.parametrize("dtype", [np.float32, BFLOAT16, np.float16], ids=str)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("transpose_x", [True, False])
def test_matmul(size: tuple[int, int, int], transpose_x: bool, dtype: Any) -> None:
    m, k, n = size
    x, y = whole((m, k), dtype), whole((k, n), dtype, 1)
    expected = x.astype(np.float32) @ y.astype(np.float32)
    given = np.ascontiguousarray(x.T) if transpose_x else x
    assert np.array_equal(multiply(given, y, transpose_x=transpose_x), expected)


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_matmul_on_every_target(target: str) -> None:
    x, y = whole((5, 6)), whole((6, 7), seed=1)
    assert np.array_equal(nki.jit(multiply.__wrapped__, platform_target=target)(x, y), x @ y)


def test_every_matmul_starts_anew() -> None:
    @nki.jit
    def twice(x: Any, y: Any) -> Any:
        a, b = nl.load(x), nl.load(y)
        nl.matmul(a, b, transpose_x=True)
        return brought_out(nl.matmul(a, b, transpose_x=True))

    x, y = whole((6, 5)), whole((6, 7), seed=1)
    assert np.array_equal(twice(x, y), x.T @ y)


def test_matmul_transposes_only_where_needed() -> None:
    spec = nki.TensorSpec((4, 4), nl.float32)
    text = nki.jit(multiply.__wrapped__).trace(spec, spec, transpose_x=True).text()
    assert "nc_transpose" not in text
    text = nki.jit(multiply.__wrapped__).trace(spec, spec).text()
    assert text.count("nisa.nc_transpose") == 1


@pytest.mark.parametrize("shape", [(128, 128), (1, 1), (1, 128), (128, 1), (5, 9)], ids=str)
@pytest.mark.parametrize("from_psum", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, BFLOAT16, np.int32, np.uint8], ids=str)
def test_transpose(shape: tuple[int, int], from_psum: bool, dtype: Any) -> None:
    x = np.abs(whole(shape)).astype(dtype)
    result = turn(x, from_psum=from_psum)
    assert result.dtype == x.dtype
    assert np.array_equal(result, x.T)


def test_transpose_passes_nan_and_infinities() -> None:
    x = np.array([[np.nan, np.inf, 1], [-np.inf, -0.0, 2]], np.float32)
    assert turn(x).tobytes() == x.T.tobytes()


def test_transpose_converts() -> None:
    x = np.random.default_rng(0).standard_normal((5, 9), np.float32)
    assert np.array_equal(turn(x, nl.bfloat16), x.T.astype(BFLOAT16))


@pytest.mark.parametrize("shape", [(2048, 128), (1, 1), (1, 128), (300, 1), (7, 5)], ids=str)
@pytest.mark.parametrize(
    "dtype", [np.float32, BFLOAT16, np.int16, np.uint8, ml_dtypes.float8_e5m2], ids=str
)
def test_load_transpose2d(shape: tuple[int, int], dtype: Any) -> None:
    x = np.abs(whole(shape)).astype(np.float32).astype(dtype)
    result = load(x)
    assert result.dtype == x.dtype
    assert result.tobytes() == x.T.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.uint8], ids=str)
def test_load_transpose2d_converts(dtype: Any) -> None:
    x = np.abs(whole((7, 5))).astype(dtype)
    result = load(x, nl.float16)
    assert result.dtype == np.float16
    assert np.array_equal(result, x.T)


def refused(call: str, *shapes: tuple[tuple[int, ...], str]) -> str:
    """Return the error of a call of the function on tiles of these shapes and buffers."""

    @nki.jit
    def wrong(**options: Any) -> None:
        tiles = [nl.ndarray(shape, nl.float32, getattr(nl, buffer)) for shape, buffer in shapes]
        getattr(nl, call)(*tiles)

    with pytest.raises(NkiValidationError) as caught:
        wrong()
    assert "test_matrices.py:" in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (((4, 5), "sbuf"), ((4, 6), "sbuf"), "'x' has 5 elements per partition to contract"),
        (((4, 129), "sbuf"), ((129, 6), "sbuf"), "'x' has 129 columns, at most 128"),
        (((4, 5), "sbuf"), ((5, 513), "sbuf"), "'y' has 513 columns, at most 512"),
        (((4, 5), "psum"), ((5, 6), "sbuf"), "'x' must be in sbuf, it is in psum"),
        (((4, 5), "sbuf"), ((5, 6), "hbm"), "'y' must be in sbuf, it is in private_hbm"),
        (((4, 5, 1), "sbuf"), ((5, 6), "sbuf"), "'x': expected two dimensions"),
    ],
    ids=str,
)
def test_operands_that_cannot_be_multiplied(x: Any, y: Any, message: str) -> None:
    assert message in refused("matmul", x, y)


def test_tensors_that_cannot_be_transposed() -> None:
    assert "must be in sbuf or psum, it is in private_hbm" in refused("transpose", ((4, 5), "hbm"))
    assert "at most 128x128" in refused("transpose", ((4, 129), "sbuf"))
    assert "expected two dimensions" in refused("transpose", ((4, 5, 6), "sbuf"))
    assert "must be in hbm, it is in sbuf" in refused("load_transpose2d", ((4, 5), "sbuf"))
    assert "at most 128 partitions" in refused("load_transpose2d", ((4, 129), "hbm"))


@pytest.mark.parametrize("function", ["transpose", "load_transpose2d"])
def test_wrong_arguments(function: str) -> None:
    @nki.jit
    def wrong_dtype(x: Any) -> None:
        getattr(nl, function)(x if function == "load_transpose2d" else nl.load(x), "float99")

    @nki.jit
    def no_tensor(x: Any) -> None:
        getattr(nl, function)(3)

    x = whole((4, 5))
    with pytest.raises(NkiValidationError, match=r"'dtype': .*float99"):
        wrong_dtype(x)
    with pytest.raises(NkiValidationError, match="expected a tensor, got 3"):
        no_tensor(x)


def test_low_precision_stays_in_float32_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NKI_PRECISE_FP", "0")
    x = np.random.default_rng(0).standard_normal((5, 9), np.float32).astype(BFLOAT16)
    for result in (turn(x), turn(x, nl.float8_e5m2), load(x), load(x, nl.float8_e4m3)):
        assert result.dtype == np.float32
        assert np.array_equal(result, x.T)
