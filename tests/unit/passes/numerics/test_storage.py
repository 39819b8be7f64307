"""Storage, loading and rounding against the bit layouts (`oracle`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracle import (
    FORMATS,
    INTEGERS,
    NUMPY_TYPES,
    ROUNDED_TYPES,
    SPECIAL,
    all_ties,
    assert_close,
    decode,
    edges,
    finite_values,
    hard_array,
    hard_floats,
    hard_values,
    round_to,
)

from nkijit.dialects.dtypes import DTYPES, Kind
from nkijit.passes.numerics.storage import (
    STORAGE,
    dtype_of_array,
    int_rounder,
    loader,
    rounder,
    storage,
)

PACKED = tuple(name for name, dtype in DTYPES.items() if dtype.kind is Kind.packed)
WIDENED = ("bfloat16", "float8_e4m3", "float8_e4m3fn", "float8_e5m2")


def as_float(array: Any) -> Any:
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)


def check_rounding(name: str, values: Sequence[float] | Any) -> None:
    """Round float32 values and compare bit for bit, NaN excepted, with the oracle."""
    source = np.asarray(values, np.float32)
    dst = np.empty(source.shape, STORAGE[name])
    rounder(DTYPES[name])(dst, source)
    expected = [round_to(name, value) for value in source.ravel().tolist()]
    got = as_float(dst).ravel()
    assert_close(got, expected, sign_of_zero=name in FORMATS, inputs=[source.ravel()])


def check_int_rounding(name: str, values: Any) -> None:
    dst = np.empty(values.shape, STORAGE[name])
    int_rounder(DTYPES[name])(dst, values)
    expected = [round_to(name, value) for value in values.ravel().tolist()]
    assert_close(as_float(dst).ravel(), expected, inputs=[values.ravel()])


def patterns(name: str) -> Any:
    """Every bit pattern of a type of 8 or 16 bits."""
    kept = STORAGE[name]
    return np.arange(2 ** (8 * kept.itemsize), dtype=f"u{kept.itemsize}").view(kept)


# -- storage --------------------------------------------------------------------------------------


def test_every_data_type_has_storage_of_its_size() -> None:
    assert list(STORAGE) != []
    assert set(STORAGE) == set(DTYPES)
    for name, dtype in DTYPES.items():
        assert STORAGE[name].itemsize == dtype.itemsize, name
        assert storage(dtype) == STORAGE[name]


def test_oracle_and_interpreter_name_the_same_types() -> None:
    assert set(ROUNDED_TYPES) == set(DTYPES) - set(PACKED)
    assert {name: STORAGE[name] for name in NUMPY_TYPES} == NUMPY_TYPES


def test_imprecise_mode_widens_the_low_precision_types_only() -> None:
    for name, dtype in DTYPES.items():
        wide = storage(dtype, precise=False)
        assert wide == (np.dtype(np.float32) if name in WIDENED else STORAGE[name]), name


@pytest.mark.parametrize("name", ROUNDED_TYPES)
def test_array_of_a_storage_dtype_has_that_data_type(name: str) -> None:
    named = {"bool_": "uint8", "tfloat32": "float32"}.get(name, name)
    assert dtype_of_array(np.zeros((2, 2), STORAGE[name])) == DTYPES[named]


def test_array_dtypes_of_no_data_type() -> None:
    assert dtype_of_array(np.zeros(1, np.bool_)) == DTYPES["bool_"]
    for foreign in (np.float64, np.int64, np.complex64, ">f4", ml_dtypes.float8_e4m3b11fnuz):
        assert dtype_of_array(np.zeros(1, foreign)) is None


@pytest.mark.parametrize("name", PACKED)
def test_packed_types_are_not_computed_on(name: str) -> None:
    for choose in (loader, rounder, int_rounder):
        with pytest.raises(TypeError, match=f"{name} is packed"):
            choose(DTYPES[name])


# -- loading --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in ROUNDED_TYPES if STORAGE[name].itemsize <= 2])
def test_loading_every_pattern(name: str) -> None:
    load = loader(DTYPES[name])
    assert load is not None
    loaded = load(patterns(name))
    assert loaded.dtype == np.float32
    expected = [decode(name, bits) for bits in range(loaded.size)]
    assert_close(loaded, expected, sign_of_zero=True)


@pytest.mark.parametrize("name", ["int32", "uint32"])
def test_loading_32_bit_integers_rounds_to_nearest_even(name: str) -> None:
    load = loader(DTYPES[name])
    assert load is not None
    near = [2**24 + offset for offset in range(-2, 7)] + [2**31 - 1 - step for step in range(200)]
    values = np.array(near, STORAGE[name])
    values = np.concatenate([values, hard_array((5000,), name)])
    expected = [round_to("float32", value) for value in values.tolist()]
    assert_close(load(values), expected)


def test_float32_needs_no_loading() -> None:
    for name in ("float32", "tfloat32"):
        assert loader(DTYPES[name]) is None
    for name in WIDENED:
        assert loader(DTYPES[name], precise=False) is None


@pytest.mark.parametrize("name", ROUNDED_TYPES)
def test_loading_from_a_view(name: str) -> None:
    load = loader(DTYPES[name])
    if load is None:
        return
    stored = hard_array((8, 12), name, seed=3)
    view = stored[1::3, ::-2]
    assert_close(load(view), load(stored)[1::3, ::-2])


# -- rounding float32 -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROUNDED_TYPES)
def test_rounding_at_the_edges(name: str) -> None:
    check_rounding(name, edges(name))
    check_rounding(name, [*SPECIAL, *(-value for value in SPECIAL), math.nan, -math.nan])


@pytest.mark.parametrize("name", [name for name in FORMATS if FORMATS[name].bits < 32])
def test_rounding_random_patterns(name: str) -> None:
    bits = np.random.default_rng(0).integers(0, 2**32, 10_000, dtype=np.uint32)
    check_rounding(name, bits.view(np.float32))


@pytest.mark.parametrize(
    "name", ["bfloat16", "float16", "float8_e4m3", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"]
)
def test_rounding_every_tie(name: str) -> None:
    check_rounding(name, all_ties(name))


@pytest.mark.parametrize("name", ROUNDED_TYPES)
@settings(max_examples=40)
@given(data=st.data())
def test_rounding_hard_floats(name: str, data: st.DataObject) -> None:
    check_rounding(name, data.draw(st.lists(hard_floats(name), min_size=1, max_size=20)))


@pytest.mark.parametrize("name", ["bfloat16", "float16", *FORMATS])
def test_values_in_the_range_of_the_type_are_unchanged(name: str) -> None:
    stored = hard_array((4000,), name, nan=False) if STORAGE[name].itemsize == 4 else patterns(name)
    load = loader(DTYPES[name])
    values = stored if load is None else load(stored)
    again = np.empty_like(stored)
    rounder(DTYPES[name])(again, values)
    unsigned = f"u{stored.dtype.itemsize}"
    number = ~np.isnan(values)
    assert np.array_equal(again.view(unsigned)[number], stored.view(unsigned)[number])
    assert np.isnan(as_float(again)[~number]).all()


def test_tfloat32_keeps_ten_mantissa_bits_and_every_nan() -> None:
    bits = np.random.default_rng(1).integers(0, 2**32, 20_000, dtype=np.uint32)
    nans = np.array([0x7F800001, 0x7F801000, 0x7FFFFFFF, 0xFFFFFFFF, 0xFF800001], np.uint32)
    source = np.concatenate([bits, nans])
    dst = np.empty(source.shape, np.float32)
    rounder(DTYPES["tfloat32"])(dst, source.view(np.float32))
    assert not (dst.view(np.uint32) & 0x1FFF).any()
    assert np.array_equal(np.isnan(dst), np.isnan(source.view(np.float32)))
    assert np.array_equal(dst.view(np.uint32) >> 31, source >> 31)


def test_integer_edges_that_float32_does_not_have() -> None:
    source = np.array([2**31, -(2**31), 2**31 - 128, 2**32, 2**32 - 256, -1, math.nan], np.float32)
    signed, unsigned = np.empty(7, np.int32), np.empty(7, np.uint32)
    rounder(DTYPES["int32"])(signed, source)
    rounder(DTYPES["uint32"])(unsigned, source)
    top = 2**31 - 1
    assert signed.tolist() == [top, -(2**31), 2**31 - 128, top, top, -1, 0]
    assert unsigned.tolist() == [2**31, 0, 2**31 - 128, 2**32 - 1, 2**32 - 256, 0, 0]


def test_integer_ties_go_to_even() -> None:
    dst = np.empty(6, np.int8)
    rounder(DTYPES["int8"])(dst, np.array([0.5, 1.5, 2.5, -0.5, -1.5, 127.5], np.float32))
    assert dst.tolist() == [0, 2, 2, 0, -2, 127]


def test_published_limits_of_the_float8_types() -> None:
    source = np.array([240, 248, 448, 464, 465, 57344, 61440, math.inf], np.float32)
    expected = {
        "float8_e4m3": [240, *[math.inf] * 7],
        "float8_e4m3fn": [240, 256, 448, 448, *[math.nan] * 4],
        "float8_e5m2": [256, 256, 448, 448, 448, 57344, math.inf, math.inf],
    }
    for name, values in expected.items():
        dst = np.empty(8, STORAGE[name])
        rounder(DTYPES[name])(dst, source)
        assert_close(as_float(dst), values)


@pytest.mark.parametrize("name", WIDENED)
def test_imprecise_mode_does_not_round(name: str) -> None:
    source = hard_values((64,), name)
    dst = np.empty(64, np.float32)
    rounder(DTYPES[name], precise=False)(dst, source)
    assert np.array_equal(dst.view(np.uint32), source.view(np.uint32))
    int_rounder(DTYPES[name], precise=False)(dst, np.full(64, 16777219, np.int32))
    assert dst[0] == 16777220


@pytest.mark.parametrize("name", ROUNDED_TYPES)
def test_rounding_into_views(name: str) -> None:
    source = hard_values((6, 5), name, seed=5)
    flat = np.empty((6, 5), STORAGE[name])
    rounder(DTYPES[name])(flat, source)
    whole = np.zeros((12, 20), STORAGE[name])
    view = whole[::-2, 3:18:3]
    rounder(DTYPES[name])(view, source)
    assert np.array_equal(view.view(f"u{view.itemsize}"), flat.view(f"u{view.itemsize}"))
    written = np.zeros(whole.shape, bool)
    written[::-2, 3:18:3] = True
    assert not whole.view(f"u{view.itemsize}")[~written].any()
    # Strided, transposed and broadcast values; a single number.
    transposed = np.empty((5, 6), STORAGE[name])
    rounder(DTYPES[name])(transposed, source.T)
    assert_close(as_float(transposed), as_float(flat.T))
    rounder(DTYPES[name])(view, source[:, 2:3])
    assert_close(as_float(view), np.broadcast_to(as_float(flat[:, 2:3]), view.shape))
    rounder(DTYPES[name])(view[2:3, 2:3], np.array(1.0, np.float32))
    assert as_float(view)[2, 2] == 1
    int_rounder(DTYPES[name])(view[2:3, 2:3], np.array(2, np.int32))
    assert as_float(view)[2, 2] == (1 if name == "bool_" else 2)


@pytest.mark.parametrize("name", ["float32", "tfloat32"])
def test_rounding_onto_overlapping_memory(name: str) -> None:
    source = hard_values((20,), name, seed=6)
    expected = np.empty(18, np.float32)
    rounder(DTYPES[name])(expected, source[:18])
    rounder(DTYPES[name])(source[2:], source[:18])
    assert_close(source[2:], expected)


@pytest.mark.parametrize("name", ROUNDED_TYPES)
def test_no_pattern_raises_a_floating_point_warning(name: str) -> None:
    # Signalling NaN, overflow and underflow included; pytest makes a warning an error.
    source = np.array([0x7F800001, 0xFFA00000, 0x7F7FFFFF, 1, 0x80000001], np.uint32)
    dst = np.empty(5, STORAGE[name])
    with np.errstate(all="warn"):
        rounder(DTYPES[name])(dst, source.view(np.float32))
        int_rounder(DTYPES[name])(dst, source)
        load = loader(DTYPES[name])
        if load is not None:
            load(dst)


# -- rounding integers ----------------------------------------------------------------------------


def hard_integers(dtype: Any) -> Any:
    """Powers of two and sums of two of them, a little more or less: ties of every float type."""
    limits = np.iinfo(dtype)
    powers = [0, *(2**e for e in range(limits.bits))]
    sums = [a + b + c for a in powers for b in powers for c in (-1, 0, 1)]
    signed = {value for total in sums for value in (total, -total)}
    kept = sorted(value for value in signed if limits.min <= value <= limits.max)
    random = np.random.default_rng(2).integers(limits.min, limits.max, 3000, dtype, endpoint=True)
    return np.concatenate([np.array(kept, dtype), random])


@pytest.mark.parametrize("name", ROUNDED_TYPES)
@pytest.mark.parametrize("source", [np.int32, np.uint32, np.int64])
def test_rounding_integers(name: str, source: Any) -> None:
    check_int_rounding(name, hard_integers(source))


def test_integers_are_rounded_once() -> None:
    # By way of float32, which would make it the tie 2**24 + 2**16, it would go down.
    dst = np.empty(1, STORAGE["bfloat16"])
    int_rounder(DTYPES["bfloat16"])(dst, np.array([2**24 + 2**16 + 1], np.int32))
    assert float(dst[0]) == 2**24 + 2**17


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_saturate(name: str) -> None:
    dst = np.empty(2, STORAGE[name])
    limits = np.iinfo(STORAGE[name])
    int_rounder(DTYPES[name])(dst, np.array([-(2**62), 2**62], np.int64))
    assert dst.tolist() == [limits.min, limits.max]


# -- the oracle -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "smallest", "largest"),
    [
        ("bfloat16", 2.0**-133, 0xFF * 2.0**120),
        ("float16", 2.0**-24, 65504),
        ("float8_e4m3", 2.0**-9, 240),
        ("float8_e4m3fn", 2.0**-9, 448),
        ("float8_e5m2", 2.0**-16, 57344),
        ("float8_e8m0fnu", 2.0**-126, 2.0**127),
    ],
)
def test_oracle_knows_the_published_ranges(name: str, smallest: float, largest: float) -> None:
    values = finite_values(name)
    assert values[0] == (2.0**-127 if name == "float8_e8m0fnu" else 0)
    assert (values[1], values[-1]) == (smallest, largest)


@pytest.mark.parametrize("name", ROUNDED_TYPES)
def test_hard_arrays_are_of_the_type(name: str) -> None:
    array = hard_array((16, 16), name, nan=False)
    assert array.dtype == STORAGE[name]
    assert not np.isnan(as_float(array)).any()
    assert np.array_equal(array, hard_array((16, 16), name, nan=False))
    assert len(np.unique(as_float(array))) > (1 if name == "bool_" else 10)


@pytest.mark.parametrize(
    ("actual", "expected", "passes"),
    [
        (1.0, 1.0, True),
        (1.0 + 2.0**-22, 1.0, True),
        (1.0 + 3 * 2.0**-23, 1.0, False),
        (2.0**-149 * 3, 2.0**-149, True),
        (2.0**-149 * 4, 2.0**-149, False),
        (math.nan, math.nan, True),
        (math.nan, 1.0, False),
        (1.0, math.nan, False),
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
        (math.inf, (2 - 2.0**-23) * 2.0**127, True),
        ((2 - 2.0**-23) * 2.0**127, math.inf, False),
        (0.0, -0.0, False),
    ],
)
def test_assert_close(actual: float, expected: float, passes: bool) -> None:
    if passes:
        assert_close(np.float32(actual), expected, ulps=2, sign_of_zero=True)
        return
    with pytest.raises(AssertionError, match="1 of 1 values differ"):
        assert_close(np.float32(actual), expected, ulps=2, sign_of_zero=True)
