"""Storage of the NKI data types in NumPy arrays, and the rounding of results on every write.

Engines compute in float32 and round once to the data type of the destination. This module
implements the steps before and after that computation. Compiling a plan selects their functions
by data type:

- `storage`: the NumPy dtype that holds a tensor;
- `loader`: converts storage to the float32 values that an engine computes with;
- `rounder`, `int_rounder`: convert float32 results, or exact integer results, to storage.

Sources: table "Supported Data Types by NKI" of the public API reference (nki.api.shared); the
NKI release notes for float32 to integer casts (nearest, ties to even, saturating); the guide of
the vendor's simulator for `NKI_PRECISE_FP`. Docstrings name the cases that these do not define.

No function raises a NumPy floating-point warning for any data. No out-of-range float reaches a C
cast, which would be undefined.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from functools import cache
from typing import Any, ParamSpec, TypeVar

import ml_dtypes
import numpy as np
import numpy.typing as npt

from nkijit.dialects.dtypes import DTYPES, DType, Kind
from nkijit.passes.numerics.casts import (
    float8_loader,
    float8_rounder,
    load_float16,
    round_to_float16,
)

Array = npt.NDArray[Any]
_P = ParamSpec("_P")
_T = TypeVar("_T")


def untrapped(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Call a function without floating-point errors, as engines compute NaN and infinities.

    NumPy's error handling is a context variable. The call runs in a copy of the context, so an
    interrupt in `errstate` does not change the caller's.
    """

    def call() -> _T:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return copy_context().run(call)


Rounder = Callable[[Array, Array], None]
"""A function that stores results: `round_into(dst, values)`.

`values`, which broadcast to `dst`, are written into the view `dst`.
"""

Loader = Callable[[Array], Array]
"""A function that converts a stored array to a new float32 array of the same shape."""

STORAGE: dict[str, np.dtype[Any]] = {
    "bool_": np.dtype(np.uint8),
    "int8": np.dtype(np.int8),
    "uint8": np.dtype(np.uint8),
    "int16": np.dtype(np.int16),
    "uint16": np.dtype(np.uint16),
    "int32": np.dtype(np.int32),
    "uint32": np.dtype(np.uint32),
    "float16": np.dtype(np.float16),
    "float32": np.dtype(np.float32),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "tfloat32": np.dtype(np.float32),
    "float8_e4m3": np.dtype(ml_dtypes.float8_e4m3),
    "float8_e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "float8_e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "float8_e8m0fnu": np.dtype(ml_dtypes.float8_e8m0fnu),
    "float8_e5m2_x4": np.dtype(np.uint32),
    "float8_e4m3fn_x4": np.dtype(np.uint32),
    "float4_e2m1fn_x4": np.dtype(np.uint16),
}
"""The NumPy dtype that holds each NKI data type bit for bit, by public name.

float32 holds tfloat32 with the 13 low mantissa bits zero; packed types are opaque integers.
"""

_WIDENED = frozenset({"bfloat16", "float8_e4m3", "float8_e4m3fn", "float8_e5m2"})
"""The data types that `NKI_PRECISE_FP=0` stores in float32.

The simulator guide lists bfloat16, float8_e4m3 and float8_e5m2; nkijit assumes the same of
float8_e4m3fn. float16 is not listed, and float8_e8m0fnu holds exponents, so neither is included.
"""

_FLOAT32 = np.dtype(np.float32)

_DTYPE_OF_STORAGE: dict[np.dtype[Any], DType] = {np.dtype(np.bool_): DTYPES["bool_"]} | {
    STORAGE[name]: dtype
    for name, dtype in DTYPES.items()
    if dtype.kind is not Kind.packed and name not in ("bool_", "tfloat32")
}


_BY_NAME = {
    name: dtype
    for name, dtype in DTYPES.items()
    if dtype.kind is Kind.packed or STORAGE[name].isbuiltin != 1
}
"""The data types that are not built into NumPy."""


def storage(dtype: DType, *, precise: bool = True) -> np.dtype[Any]:
    """Return the NumPy dtype that holds a data type; `precise=False` is `NKI_PRECISE_FP=0`."""
    return _FLOAT32 if not precise and dtype.name in _WIDENED else STORAGE[dtype.name]


def dtype_of_array(array: Array) -> DType | None:
    """Return the NKI data type of a NumPy or ml_dtypes array, or None when NKI has none.

    np.bool_ is `bool_`, whose storage is `array.view(np.uint8)`; float64, int64 and arrays in
    foreign byte order have none. A plain uint32 array is never a packed type, and a plain float32
    array never tfloat32; see `dtype_called` for arrays with a name in their data type.
    """
    dtype = array.dtype
    return _DTYPE_OF_STORAGE.get(dtype) if is_plain(dtype) else dtype_called(dtype)


def is_plain(dtype: np.dtype[Any]) -> bool:
    """True for NumPy's own data types and registered ones, which can be compared with `==`.

    Other data types are equal when they have the same bytes, even if their names differ.
    """
    return bool(dtype.isbuiltin) and dtype.metadata is None


def dtype_called(dtype: np.dtype[Any]) -> DType | None:
    """Return the NKI data type that is named in a NumPy data type; None if none is named.

    For types that are not built into NumPy: float8, bfloat16 and the packed types. The name is
    that of the scalar class (`np.dtype((float8_e5m2_x4, 4))` of a class that derives from
    np.void), of the only field (`np.dtype([("float8_e5m2_x4", np.uint32)])`), or a string in the
    metadata (`np.dtype(np.uint32, metadata={"name": "float8_e5m2_x4"})`). The sizes must match.
    """
    if not dtype.isnative:
        return None
    texts = [value for value in (dtype.metadata or {}).values() if isinstance(value, str)]
    fields = dtype.names if dtype.names is not None and len(dtype.names) == 1 else ()
    for name in (*texts, *fields, dtype.name, dtype.type.__name__):
        called = _BY_NAME.get(name)
        if called is not None:
            return called if called.itemsize == dtype.itemsize else None
    return _DTYPE_OF_STORAGE.get(dtype)


def rounder(dtype: DType, precise: bool = True) -> Rounder:
    """Return the function `round_into(dst, values)` that converts float32 results to `dtype`.

    `dst` is a view of any strides over `storage(dtype, precise=precise)`; `values` is float32 and
    broadcasts to it. The two may overlap. Each value is rounded exactly once:

    - float types: to nearest, ties to even. Overflow gives infinity, or NaN in formats without
      infinity. float8_e8m0fnu is not documented and rounds as in ml_dtypes: ties go up, as there
      is no mantissa bit to be even; values between 2**-127 and 2**-126 go up; values below 2**-127
      give 2**-127; zero and negative values, which it cannot represent, give NaN.
    - integers: to nearest, ties to even, saturating. NaN is not documented and gives 0.
    - bool_: 1 if the value is not zero (also for NaN), else 0.

    Raises TypeError for packed types, which only MX instructions write.
    """
    kept = storage(dtype, precise=precise)
    if dtype.kind is Kind.packed:
        raise TypeError(_packed_message(dtype))
    if dtype.kind is Kind.boolean:
        return _round_to_bool
    if dtype.is_integer:
        return _integer_rounder(kept)
    if dtype.name == "tfloat32":
        return _round_to_tfloat32
    if kept == _FLOAT32:
        return np.copyto
    if kept.itemsize == 1:
        return float8_rounder(kept)
    return round_to_float16 if dtype.name == "float16" else _round_by_cast


def int_rounder(dtype: DType, precise: bool = True) -> Rounder:
    """Return the function `round_into(dst, values)` that converts exact integers to `dtype`.

    For the integer arithmetic of the GpSimd Engine (`iota`). Like `rounder`, but `values` is an
    integer array of at most 64 signed or 32 unsigned bits and is not converted to float32 first:
    integers that fit are exact, others saturate, and floats are rounded once from the exact value.
    """
    if dtype.is_integer:
        return _saturate
    if storage(dtype, precise=precise) == _FLOAT32 and dtype.name != "tfloat32":
        return _round_by_cast
    round_float = rounder(dtype, precise)

    def round_into(dst: Array, values: Array) -> None:
        round_float(dst, _to_float32_odd(values))

    return round_into


def loader(dtype: DType, precise: bool = True) -> Loader | None:
    """Return the function that converts stored `dtype` elements to float32 for computation.

    None if the storage is float32, as for tfloat32. int32 and uint32 round to nearest, ties to
    even; every other type converts exactly. bool_ gives 1.0 for any nonzero byte, else 0.0.
    Raises TypeError for packed types, which no engine converts.
    """
    kept = storage(dtype, precise=precise)
    if dtype.kind is Kind.packed:
        raise TypeError(_packed_message(dtype))
    if kept == _FLOAT32:
        return None
    if dtype.kind is Kind.boolean:
        return _load_bool
    if dtype.kind is Kind.float and kept.itemsize == 1:
        return float8_loader(kept)
    return load_float16 if dtype.name == "float16" else _load_by_cast


def _packed_message(dtype: DType) -> str:
    return f"{dtype.name} is packed: engines move its bits and cannot compute on it"


def _load_by_cast(array: Array) -> Array:
    return array.astype(np.float32)


def _load_bool(array: Array) -> Array:
    return (array != 0).astype(np.float32)


def _round_by_cast(dst: Array, values: Array) -> None:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        dst[...] = values


def _round_to_bool(dst: Array, values: Array) -> None:
    dst[...] = values != 0


def _round_to_tfloat32(dst: Array, values: Array) -> None:
    bits = values.view(np.uint32)
    rounded = np.empty(bits.shape, np.uint32)
    # Add just under half of the last remaining bit, and one more when that bit is odd. A carry
    # increments the exponent as required, also from denormals to normals and to infinity.
    np.right_shift(bits, 13, rounded)
    rounded &= 1
    rounded += bits
    rounded += 0xFFF
    # A carry could change a NaN into another number: use its original bits, and make it quiet.
    np.copyto(rounded, bits | 0x400000, where=np.isnan(values))
    rounded &= 0xFFFFE000
    dst[...] = rounded.view(np.float32)


@cache
def _integer_rounder(kept: np.dtype[Any]) -> Rounder:
    low, high = int(np.iinfo(kept).min), int(np.iinfo(kept).max)
    largest = np.float32(high)
    if int(largest) > high:  # 32 bits: the neighbours of 2**31 - 1 are 2**31 and 2**31 - 128
        largest = np.nextafter(largest, np.float32(0))
    exact = int(largest) == high

    def round_into(dst: Array, values: Array) -> None:
        rounded = np.empty(values.shape, np.float32)
        with np.errstate(invalid="ignore"):  # a signalling NaN sets the flag
            np.rint(values, rounded)
        above = None if exact else rounded > largest
        np.clip(rounded, low, largest, out=rounded)
        np.copyto(rounded, 0, where=np.isnan(rounded))
        dst[...] = rounded
        if above is not None:
            np.copyto(dst, high, where=above)

    return round_into


def _saturate(dst: Array, values: Array) -> None:
    if not np.can_cast(values.dtype, dst.dtype):
        limits = np.iinfo(dst.dtype)
        values = np.clip(values.astype(np.int64), limits.min, limits.max)
    dst[...] = values


def _to_float32_odd(values: Array) -> Array:
    """Convert integers to float32; inexact results become the neighbour with an odd last bit.

    Rounding the result to at most 22 bits then equals rounding the integer directly: a number with
    an odd last bit is never on a tie, and it is on the same side of each tie as the integer.
    """
    wide = values.astype(np.int64)
    # float64 has 53 bits: in wider integers, bit 11 is set if any of the 11 bits below it is.
    huge = np.not_equal(((wide >> 52) + 1) >> 1, 0)
    wide = np.where(huge, (wide & -0x800) | np.where(wide & 0x7FF, 0x800, 0), wide)
    # float32 has 29 bits fewer: its last bit is set if any of those is.
    bits = wide.astype(np.float64).view(np.uint64)
    dropped = np.uint64((1 << 29) - 1)
    odd = np.where(bits & dropped, dropped + np.uint64(1), np.uint64(0))
    return ((bits & ~dropped) | odd).view(np.float64).astype(np.float32)
