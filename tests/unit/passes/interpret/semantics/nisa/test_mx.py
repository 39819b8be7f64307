"""nc_matmul_mx and quantize_mx, and how packed types go in and out of kernels."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nisa.harness import (
    ALL,
    Call,
    Program,
    Tile,
    View,
    X,
    Y,
    Z,
    call,
    holding,
    some,
)
from support.nisa.naive_mx import ELEMENTS, unpacked
from support.oracle import hard_array

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.isa import NkiValidationError
from nkijit.passes.interpret.records.errors import InterpretationError

SX, SY = View("sx"), View("sy")
MATMUL = call("nc_matmul_mx", dst=Z, stationary=X, moving=Y, stationary_scale=SX, moving_scale=SY)
QUANTIZE = call("quantize_mx", dst=Z, src=X, dst_scale=SX)
X4 = tuple(ELEMENTS)
X4_FP8 = X4[:2]
SCALES = ("float8_e8m0fnu", "uint8")


# -- nc_matmul_mx ---------------------------------------------------------------------------------


def packed(dtype: str, shape: tuple[int, ...], seed: int = 0, *, special: bool = False) -> Tile:
    """x4 elements of any bits; without `special` none of the float8 values in them is infinite
    or NaN."""
    random = np.random.default_rng(seed)
    storage = np.uint16 if dtype == "float4_e2m1fn_x4" else np.uint32
    values = random.integers(0, 256, (*shape, np.dtype(storage).itemsize), np.uint8)
    if not special and dtype != "float4_e2m1fn_x4":
        values &= 0xBF  # the highest bit of the exponent
    return Tile(dtype, shape, data=values.view(storage)[..., 0])


def scales(dtype: str, shape: tuple[int, int], seed: int = 0, span: int = 4) -> Tile:
    """Scales of ordinary size in every row, those that are not used as well."""
    bits = np.random.default_rng(seed).integers(127 - span, 128 + span, shape).astype(np.uint8)
    kept = np.uint8 if dtype == "uint8" else ml_dtypes.float8_e8m0fnu
    return Tile(dtype, shape, data=bits.view(kept))


def product(
    shape: tuple[int, int, int] = (32, 4, 5),
    dtypes: tuple[str, str] = ("float8_e4m3fn_x4", "float8_e5m2_x4"),
    calls: Any = (MATMUL,),
    **tiles: Tile,
) -> Program:
    k, m, n = shape
    usual = {
        "x": packed(dtypes[0], (k, m), 1),
        "y": packed(dtypes[1], (k, n), 2),
        "sx": scales("float8_e8m0fnu", (k, m), 3),
        "sy": scales("uint8", (k, n), 4),
        "z": Tile("float32", (m, n), "psum"),
    }
    return Program(usual | tiles, calls)


@pytest.mark.parametrize("moving", X4)
@pytest.mark.parametrize("stationary", X4)
def test_data_types(stationary: str, moving: str) -> None:
    product(dtypes=(stationary, moving)).check()


@pytest.mark.parametrize("shape", [(32, 2, 1), (64, 2, 7), (96, 4, 3), (128, 6, 4), (32, 128, 2)])
def test_sizes(shape: tuple[int, int, int]) -> None:
    product(shape).check()


@pytest.mark.parametrize("sy", SCALES)
@pytest.mark.parametrize("sx", SCALES)
def test_scale_types(sx: str, sy: str) -> None:
    product(sx=scales(sx, (32, 4)), sy=scales(sy, (32, 5))).check()


def test_a_quadrant_of_data_has_four_rows_of_scales() -> None:
    product(sx=scales("uint8", (4, 4)), sy=scales("uint8", (5, 5))).check()


@pytest.mark.parametrize("start", [0, 4, 8, 12])
@pytest.mark.parametrize("partitions", [32, 64, 128])
def test_scales_of_several_tensors_share_a_tile(partitions: int, start: int) -> None:
    shared = scales("uint8", (128, 9), 5)
    made = MATMUL.with_views({"sx": View("s")[start:, 0:4], "sy": View("s")[0:, 2:7]})
    tiles = {
        "x": packed("float8_e4m3fn_x4", (partitions, 4), 1),
        "y": packed("float4_e2m1fn_x4", (partitions, 5), 2),
        "s": shared,
        "z": Tile("float32", (4, 5), "psum"),
    }
    Program(tiles, [made]).check()


@pytest.mark.parametrize("dtype", X4)
def test_layouts(dtype: str) -> None:
    tiles = {
        "x": packed(dtype, (32, 2, 3), 1),
        "y": packed(dtype, (96, 13), 2),
        "sx": scales("uint8", (32, 2, 3)),
        "sy": scales("uint8", (96, 14)),
        "z": Tile("float32", (6, 3, 4), "psum"),
    }
    made = MATMUL.with_views(
        {
            "x": X.then("permute", (0, 2, 1)),
            "sx": SX.then("permute", (0, 2, 1)),
            "y": Y[64:96, 0:12:2],
            "sy": SY[64:68, 1:13:2],
            "z": Z[ALL, 1:3, 1:4],
        }
    )
    Program(tiles, [made]).check(unwritten=True)


@pytest.mark.parametrize("z", ["float32", "bfloat16"])
@pytest.mark.parametrize("last", [True, False, None])
@pytest.mark.parametrize("first", [False, None])
def test_accumulate(first: bool | None, last: bool | None, z: str) -> None:
    calls = [
        Call("nc_matmul_mx", MATMUL.arguments | {"accumulate": a}) for a in (first, last, None)
    ]
    # Whole numbers, so that results in bfloat16 do not depend on the order of the sums.
    ones = np.full((32, 4), 0x38383838, np.uint32)
    x = Tile("float8_e4m3fn_x4", (32, 4), data=ones)
    y = Tile("float8_e4m3fn_x4", (32, 5), data=np.full((32, 5), 0x38383838, np.uint32))
    one = np.full((32, 5), 127, np.uint8)
    sx, sy = Tile("uint8", (32, 4), data=one[:, :4].copy()), Tile("uint8", (32, 5), data=one)
    z_tile = Tile(z, (4, 5), "psum")
    product(calls=calls, x=x, y=y, sx=sx, sy=sy, z=z_tile).check()


def test_it_adds_to_results_of_other_matmuls() -> None:
    other = call("nc_matmul", dst=Z, stationary=View("a"), moving=View("b"))
    a, b = holding("float32", np.ones((3, 4))), holding("float32", np.full((3, 5), 2.0))
    product(calls=[other, MATMUL, other], a=a, b=b).check()


def test_accumulating_where_nothing_was_written_is_refused() -> None:
    with pytest.raises(NkiValidationError, match="accumulate"):
        product(calls=[Call("nc_matmul_mx", MATMUL.arguments | {"accumulate": True})]).run()


@pytest.mark.parametrize("place", [(0, 0), (32, 0), (96, 0)])
def test_position_in_the_array_changes_nothing(place: tuple[int, int]) -> None:
    arguments = MATMUL.arguments | {"tile_position": place, "tile_size": (32, 128)}
    product(calls=[Call("nc_matmul_mx", arguments)]).check()


@pytest.mark.parametrize("dtype", X4_FP8)
def test_infinities_and_nan(dtype: str) -> None:
    x = packed(dtype, (32, 4), 1)
    largest = {"float8_e5m2_x4": 0x7B, "float8_e4m3fn_x4": 0x7E}[dtype]
    for column, bits in enumerate([0x7F, 0xFF, largest, largest | 0x80]):
        x.data[5, column] = x.data[5, column] & 0xFFFF00FF | bits << 8
    if dtype == "float8_e5m2_x4":
        x.data[9, 3] = 0x7C7C0000
    product(dtypes=(dtype, dtype), x=x).check()


@pytest.mark.parametrize("bits", [0, 1, 126, 254, 255])
def test_scales_at_their_limits(bits: int) -> None:
    # 2**127 and NaN; a value may overflow or be a denormal float32 before it is multiplied.
    sx = Tile("uint8", (4, 4), data=np.full((4, 4), 127, np.uint8))
    sx.data[2, 1] = bits
    x = packed("float8_e4m3fn_x4", (32, 4), 1)
    # One sign per column, lest infinities meet.
    x.data[...] &= np.uint32(0x7F7F7F7F)
    y = packed("float4_e2m1fn_x4", (32, 5), 2)
    y.data[...] &= np.uint16(0x7777)
    sy = Tile("uint8", (4, 5), data=np.full((4, 5), 127, np.uint8))
    product(x=x, y=y, sx=sx, sy=sy).check()


@given(st.sampled_from(X4), st.sampled_from(X4), st.integers(0, 1000))
@some
def test_any_bits(stationary: str, moving: str, seed: int) -> None:
    product(
        (32, 2, 3),
        (stationary, moving),
        x=packed(stationary, (32, 2), seed, special=True),
        y=packed(moving, (32, 3), seed + 1),
        sx=scales("uint8", (4, 2), seed, span=9),
        sy=scales("uint8", (4, 3), seed + 1, span=9),
    ).check()


# -- quantize_mx ----------------------------------------------------------------------------------


def quantized(
    src: Tile, dtype: str, scale: str = "uint8", rows: int | None = None, made: Call = QUANTIZE
) -> Program:
    partitions, columns = src.shape[0], math.prod(src.shape[1:]) // 4
    tiles = {
        "x": src,
        "z": Tile(dtype, (partitions, columns)),
        "sx": scales(scale, (rows or partitions, columns), 7),
    }
    return Program(tiles, [made])


def numbers(dtype: str, shape: tuple[int, ...], seed: int = 0, spread: float = 3.0) -> Tile:
    """Ordinary numbers whose sizes differ, from one to the next and more from group to group."""
    random = np.random.default_rng(seed)
    size = np.exp2(random.normal(0, spread, shape) + random.integers(-6, 6, (shape[0], 1)))
    values = random.choice([-1.0, 1.0], shape) * size
    kept = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}[dtype]
    return Tile(dtype, shape, data=values.astype(np.float32).astype(kept))


QUANTIZABLE = pytest.mark.parametrize("src", ["float16", "bfloat16"])
TO_FP8 = pytest.mark.parametrize("dst", X4_FP8)


@QUANTIZABLE
@TO_FP8
@pytest.mark.parametrize("scale", SCALES)
def test_quantize(src: str, dst: str, scale: str) -> None:
    quantized(numbers(src, (64, 24)), dst, scale).check()


@QUANTIZABLE
@TO_FP8
@pytest.mark.parametrize("shape", [(32, 4), (96, 8), (128, 4), (32, 2, 6), (32, 3, 4)])
def test_quantize_sizes(src: str, dst: str, shape: tuple[int, ...]) -> None:
    flat = numbers(src, (shape[0], math.prod(shape[1:])))
    quantized(Tile(src, shape, data=flat.data.reshape(shape)), dst).check()


@TO_FP8
@pytest.mark.parametrize("start", [0, 4, 8, 12])
def test_quantize_leaves_other_scales_alone(start: int, dst: str) -> None:
    tiles = {
        "x": numbers("bfloat16", (64, 12)),
        "z": Tile(dst, (64, 3)),
        "sx": scales("uint8", (64, 5), 7),
    }
    Program(tiles, [QUANTIZE.with_views({"sx": SX[start:, 1:4]})]).check()


@TO_FP8
def test_quantize_layouts(dst: str) -> None:
    tiles = {
        "x": numbers("float16", (96, 50)),
        "z": Tile(dst, (64, 6), data=np.zeros((64, 6), np.uint32)),
        "sx": scales("float8_e8m0fnu", (4, 7), 7),
    }
    made = QUANTIZE.with_views({"x": X[64:96, 1:49:4], "z": Z[32:64, ::2], "sx": SX[:, 2:5]})
    Program(tiles, [made]).check()
    turned = QUANTIZE.with_views({"x": X.then("permute", (0, 2, 1))})
    data = numbers("bfloat16", (32, 12)).data.reshape(32, 4, 3)
    quantized(Tile("bfloat16", (32, 4, 3), data=data), dst, made=turned).check()


@QUANTIZABLE
@TO_FP8
def test_the_largest_values_of_groups(src: str, dst: str) -> None:
    """Every mantissa at the top of a group, of every size: nothing saturates or turns into NaN."""
    kept = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}[src]
    patterns = np.arange(0, 0x7C00 if src == "float16" else 0x7F80, 7).astype(np.uint16)
    data = np.zeros((32, 4 * math.ceil(len(patterns) / 4)), np.uint16)
    data[0::8, 0::4] = np.resize(patterns, data[0::8, 0::4].shape)
    data[3::8, 2::4] = data[0::8, 0::4] - (data[0::8, 0::4] > 0) + 0x8000
    quantized(Tile(src, data.shape, data=data.view(kept)), dst).check()


@QUANTIZABLE
@TO_FP8
def test_zeros_and_denormals(src: str, dst: str) -> None:
    kept = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}[src]
    data = np.zeros((32, 16), np.uint16)
    data[8:16] = 0x8000  # a group of negative zeros
    data[16:24] = np.arange(16)  # denormal numbers
    data[24:] = 0x8001
    data[30, ::4] = 0x0081
    program = quantized(Tile(src, data.shape, data=data.view(kept)), dst)
    program.check()
    results = program.run()
    assert not results["sx"][0].any()
    assert not results["sx"][1].any()
    assert (results["z"][8:16] == 0x80808080).all()


def compare_values(program: Program) -> None:
    """Like `check`, but any NaN equals any NaN inside x4 elements."""
    results, expected = program.run(), program.expected()
    dtype = program.tiles["z"].dtype
    actual = [unpacked(dtype, int(bits)) for bits in results["z"].flat]
    wanted = [unpacked(dtype, int(bits)) for bits in expected["z"].low.flat]
    assert np.array_equal(actual, wanted, equal_nan=True)
    assert np.array_equal(results["sx"], expected["sx"].low)


@QUANTIZABLE
@TO_FP8
@pytest.mark.parametrize("special", [math.inf, -math.inf, math.nan])
def test_quantize_values_that_are_not_finite(special: float, src: str, dst: str) -> None:
    tile = numbers(src, (64, 16))
    tile.data[5, 6] = special
    tile.data[40, 0] = special
    tile.data[41, 1] = -special
    compare_values(quantized(tile, dst))


@QUANTIZABLE
@TO_FP8
def test_infinities_come_back(src: str, dst: str) -> None:
    tile = numbers(src, (32, 8))
    tile.data[:, 4:] = 0
    tile.data[5, 2] = math.inf
    identity = np.zeros((32, 2), np.uint16)
    identity[5, 0] = 0x0200  # 1.0 in the third place, to pick [5, 2]
    tiles = {
        "x": tile,
        "q": Tile(dst, (32, 2)),
        "sq": scales("uint8", (4, 2)),
        "y": Tile("float4_e2m1fn_x4", (32, 2), data=identity),
        "sy": Tile("uint8", (4, 2), data=np.full((4, 2), 127, np.uint8)),
        "z": Tile("float32", (2, 2), "psum"),
    }
    calls = [
        QUANTIZE.with_views({"z": View("q"), "sx": View("sq")}),
        MATMUL.with_views({"x": View("q"), "sx": View("sq")}),
    ]
    assert Program(tiles, calls).run()["z"][0, 0] == math.inf


@given(st.sampled_from(["float16", "bfloat16"]), st.sampled_from(X4_FP8), st.integers(0, 1000))
@some
def test_quantize_hard_numbers(src: str, dst: str, seed: int) -> None:
    data = hard_array((32, 12), src, seed, nan=False)
    data = np.where(np.isfinite(data.astype(np.float32)), data, np.zeros_like(data))
    quantized(Tile(src, (32, 12), data=data), dst, rows=4).check()


# -- kernels --------------------------------------------------------------------------------------


@nki.jit
def offline(x: Any, sx: Any, y: Any, sy: Any, x_dtype: str, y_dtype: str) -> Any:
    """Data packed on the host arrives as integers and is read as x4 elements."""
    k, m, n = 32, 8, 16
    out = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.shared_hbm)
    tiles = []
    for data, dtype, width in ((x, x_dtype, m), (y, y_dtype, n)):
        tile = nl.ndarray((k, width), dtype=dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, data.ap(pattern=[[width, k], [1, width]], offset=0, dtype=dtype))
        tiles.append(tile)
    result = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul_mx(result, *tiles, nl.load(sx), nl.load(sy))
    copied = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(copied, result)
    nisa.dma_copy(out, copied)
    return out


def packed_on_the_host(element: str, values: Any) -> Any:
    quantized = values.astype(getattr(ml_dtypes, element))
    if element != "float4_e2m1fn":
        return quantized.view(np.uint32)
    halves = quantized.view(np.uint8)
    return halves[:, 0::2] | halves[:, 1::2] << 4


@pytest.mark.parametrize("precise", ["1", "0"])
@pytest.mark.parametrize("y", ELEMENTS.values())
@pytest.mark.parametrize("x", ELEMENTS.values())
def test_host_arrays(x: str, y: str, precise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """uint32 for four float8 values, uint8 for two float4 values, scales in both of their types."""
    monkeypatch.setenv("NKI_PRECISE_FP", precise)
    random = np.random.default_rng(0)
    choices = np.array([0, 0.5, 1, 1.5, 2, 3, -1, -4, -6])
    left, right = (random.choice(choices, (32, 4 * width)) for width in (8, 16))
    sx = np.full((4, 8), 2.0).astype(ml_dtypes.float8_e8m0fnu)
    sy = np.full((4, 16), 126, np.uint8)
    types = {element: dtype for dtype, element in ELEMENTS.items()}
    result = offline(
        packed_on_the_host(x, left), sx, packed_on_the_host(y, right), sy, types[x], types[y]
    )
    expected = np.einsum("kiq,kjq->ij", left.reshape(32, 8, 4), right.reshape(32, 16, 4))
    assert np.array_equal(result, expected)


@nki.jit
def quantizing(x: Any) -> Any:
    data = nl.ndarray((32, 8), dtype=nl.float8_e4m3fn_x4, buffer=nl.shared_hbm)
    scale = nl.ndarray((4, 8), dtype=nl.float8_e8m0fnu, buffer=nl.shared_hbm)
    tile = nl.ndarray((32, 8), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)
    scales = nl.ndarray((4, 8), dtype=nl.float8_e8m0fnu, buffer=nl.sbuf)
    nisa.quantize_mx(tile, nl.load(x), scales)
    nisa.dma_copy(data, tile)
    nisa.dma_copy(scale, scales)
    return data, scale


@pytest.mark.parametrize("precise", ["1", "0"])
def test_packed_results(precise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """x4 tensors come out as unsigned integers of their size, scales in their own type."""
    monkeypatch.setenv("NKI_PRECISE_FP", precise)
    x = np.random.default_rng(0).choice([0.25, 0.5, 1, -1.5], (32, 32)).astype(ml_dtypes.bfloat16)
    data, scale = quantizing(x)
    assert (data.dtype, scale.dtype) == (np.uint32, ml_dtypes.float8_e8m0fnu)
    values = data.view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    factors = scale.astype(np.float32).repeat(8, 0).repeat(4, 1)
    assert np.array_equal(values * factors, x.astype(np.float32))


def test_packed_tensors_as_arguments_of_a_traced_kernel() -> None:
    def copied(x: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, x)
        return out

    for dtype, storage in (("float8_e5m2_x4", np.uint32), ("float4_e2m1fn_x4", np.uint16)):
        traced = nki.jit(copied).trace(nki.TensorSpec((4, 4), dtype))
        x = np.arange(16, dtype=storage).reshape(4, 4)
        result = traced.run(x)
        assert result.dtype == storage
        assert np.array_equal(result, x)


def test_float8_arrays_are_read_as_x4_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    @nki.jit
    def viewed(x: Any) -> Any:
        out = nl.ndarray((32, 8), dtype=nl.float8_e4m3fn_x4, buffer=nl.shared_hbm)
        nisa.dma_copy(out, x.view(nl.float8_e4m3fn_x4))
        return out

    x = np.arange(1024, dtype=np.uint16).astype(np.uint8).reshape(32, 32)
    result = viewed(x.view(ml_dtypes.float8_e4m3fn))
    assert np.array_equal(result.view(np.uint8), x)
    # Without precise floats there are no bits to read.
    monkeypatch.setenv("NKI_PRECISE_FP", "0")
    with pytest.raises(InterpretationError, match="NKI_PRECISE_FP=0"):
        viewed(x.view(ml_dtypes.float8_e4m3fn))


@pytest.mark.parametrize(
    "argument",
    [{"accumulate": "yes"}, {"tile_size": 1.5}, {"tile_position": "ab"}, {"stationary": 3}],
    ids=str,
)
def test_wrong_arguments_are_reported_at_the_authors_line(argument: dict[str, Any]) -> None:
    @nki.jit
    def wrong() -> None:
        data = nl.ndarray((32, 4), dtype=nl.float8_e5m2_x4, buffer=nl.sbuf)
        scale = nl.ndarray((4, 4), dtype=nl.uint8, buffer=nl.sbuf)
        out = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.psum)
        arguments = {"dst": out, "stationary": data, "moving": data}
        scales = {"stationary_scale": scale, "moving_scale": scale}
        nisa.nc_matmul_mx(**arguments | scales | argument)

    with pytest.raises(NkiValidationError, match=r"expected (.|\n)*test_mx\.py:\d+"):
        wrong()


def test_findings_are_reported_at_the_authors_line() -> None:
    @nki.jit
    def wrong() -> None:
        src = nl.ndarray((32, 16), dtype=nl.float32, buffer=nl.sbuf)
        dst = nl.ndarray((32, 4), dtype=nl.float8_e5m2_x4, buffer=nl.sbuf)
        nisa.memset(src, 0)
        nisa.quantize_mx(dst, src, nl.ndarray((2, 4), dtype=nl.uint8, buffer=nl.sbuf))

    with pytest.raises(NkiValidationError) as caught:
        wrong()
    assert [d.rule.id for d in caught.value.diagnostics] == ["dtype", "mx-scale"]
    assert "test_mx.py:" in str(caught.value)
