"""The fast casts against the element-wise ones of NumPy and ml_dtypes, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nkijit.dialects.dtypes import DTYPES
from nkijit.passes.numerics.storage import STORAGE, loader, rounder

NARROW = tuple(
    name
    for name, kept in STORAGE.items()
    if DTYPES[name].kind.value == "float" and kept.itemsize <= 2
)


def bits(array: Any) -> Any:
    return array.view(f"u{array.dtype.itemsize}")


def every_pattern(name: str) -> Any:
    kept = STORAGE[name]
    return np.arange(2 ** (8 * kept.itemsize), dtype=f"u{kept.itemsize}").view(kept)


def slowly(array: Any, dtype: Any) -> Any:
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def hard_patterns(name: str) -> Any:
    """float32 bits around every value of the type, every midpoint, and all that is special."""
    values = slowly(every_pattern(name), np.float64)
    values = np.unique(values[np.isfinite(values)])
    beyond = 2 * values[-1] - values[-2]
    points = np.concatenate(
        [values, (values[1:] + values[:-1]) / 2, [(values[-1] + beyond) / 2, beyond]]
    )
    near = slowly(points, np.float32).view(np.int32)
    edges = np.array([0, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000], np.int32)
    payloads = np.concatenate([1 << np.arange(23), (1 << np.arange(23)) - 1, [0x7FFFFF]])
    nans = (0x7F800000 | payloads).astype(np.int32)
    around = np.concatenate([near, edges])
    around = (around[:, None] + np.arange(-2, 3, dtype=np.int32)).ravel()
    random = np.random.default_rng(0).integers(-(2**31), 2**31, 1 << 20).astype(np.int32)
    positive = np.concatenate([around, nans]) & 0x7FFFFFFF
    return np.concatenate([positive, positive | np.int32(-(2**31)), random])


@pytest.mark.parametrize("name", NARROW)
def test_widening_every_pattern(name: str) -> None:
    stored = every_pattern(name)
    load = loader(DTYPES[name])
    assert load is not None
    assert np.array_equal(bits(load(stored)), bits(slowly(stored, np.float32)))


def test_widening_float16_without_infinity_and_nan() -> None:
    # These take another path than an array that has some.
    stored = every_pattern("float16")
    stored = stored[np.isfinite(slowly(stored, np.float32))]
    load = loader(DTYPES["float16"])
    assert load is not None
    assert np.array_equal(bits(load(stored)), bits(slowly(stored, np.float32)))
    assert load(stored[:0]).shape == (0,)


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("largest", ["any", "infinite", "finite", "in-range"])
def test_narrowing(name: str, largest: str) -> None:
    # Elements below the worst of an array use another path.
    source = hard_patterns(name).view(np.float32)
    with np.errstate(invalid="ignore"):
        size = np.abs(source)
    keep = {
        "any": np.ones(source.shape, bool),
        "infinite": ~np.isnan(source),
        "finite": np.isfinite(source),
        "in-range": size <= 60000,
    }[largest]
    source = source[keep]
    dst = np.empty(source.shape, STORAGE[name])
    rounder(DTYPES[name])(dst, source)
    expected = slowly(source, STORAGE[name])
    wrong = np.flatnonzero(bits(dst) != bits(expected))
    assert not wrong.size, [hex(int(word)) for word in bits(source)[wrong[:8]]]


@pytest.mark.parametrize("name", NARROW)
def test_large_and_strange_shapes(name: str) -> None:
    """More elements than are rounded at a time: in many rows, in few, in views, broadcast."""
    random = np.random.default_rng(1)
    for shape in [(3, 70_000), (130, 513), (1, 2, 70_000), (70_000, 3), (200_000,)]:
        source = random.standard_normal(shape, np.float32)
        source.flat[::1001] = np.nan
        dst = np.empty(shape, STORAGE[name])
        rounder(DTYPES[name])(dst, source)
        assert np.array_equal(bits(dst), bits(slowly(source, STORAGE[name])))
    wide = np.zeros((140, 1030), STORAGE[name])
    source = random.standard_normal((140, 1), np.float32)
    source[3] = np.nan
    rounder(DTYPES[name])(wide[:, ::2], source)
    expected = np.broadcast_to(slowly(source, STORAGE[name]), (140, 515))
    assert np.array_equal(bits(wide)[:, ::2], bits(np.ascontiguousarray(expected)))
    assert not bits(wide)[:, 1::2].any()


@pytest.mark.parametrize("name", ["float16", "float8_e4m3"])
def test_rounding_onto_the_memory_it_reads(name: str) -> None:
    kept = STORAGE[name]
    source = np.random.default_rng(2).standard_normal(150_000, np.float32)
    expected = slowly(source, kept)
    dst = source.view(kept)[-150_000:]
    rounder(DTYPES[name])(dst, source)
    assert np.array_equal(bits(dst), bits(expected))
