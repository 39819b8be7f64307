"""Data types of results, by the type promotion rules of the classic API.

Source: NKI API reference 2.26, nki.api.shared, "NKI Type Promotion".
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from nkijit.classic.tensors.tensors import ClassicTensor, element_of
from nkijit.dialects.dtypes import DTYPES, DType, Kind
from nkijit.tracing.dtype_names import as_dtype
from nkijit.tracing.tensor import NkiTensor

_FLOATS = {
    "float8_e4m3": (4, 3),
    "float8_e4m3fn": (4, 3),
    "float8_e5m2": (5, 2),
    "bfloat16": (8, 7),
    "float16": (5, 10),
    "tfloat32": (8, 10),
    "float32": (8, 23),
}
"""Maps floating-point types to their numbers of exponent bits and mantissa bits."""

_WIDENED_FLOATS = ("bfloat16", "float32")
_WIDENED_INTEGERS = ("int16", "int32")


def promoted(*operands: Any) -> str:
    """Return the common data type of operands: tensors and numbers."""
    types = [type_of(operand) for operand in operands]
    return functools.reduce(_together, types).name


def type_of(operand: Any) -> DType:
    """Return the data type of a tensor or number.

    Numbers of Python are uint8 (bool), int32 or float32.
    """
    if isinstance(operand, ClassicTensor):
        return DTYPES[element_of(operand)]
    if isinstance(operand, NkiTensor):
        return DTYPES[operand.dtype]
    scalar: Any = operand
    if isinstance(operand, np.generic) and str(scalar.dtype) in ("bool", *DTYPES):
        return as_dtype(str(scalar.dtype))
    if isinstance(operand, bool):
        return DTYPES["uint8"]
    return DTYPES["int32" if isinstance(operand, (int, np.integer)) else "float32"]


def _together(one: DType, two: DType) -> DType:
    if one is two:
        return one
    one, two = _as_stored(one), _as_stored(two)
    floats = [dtype for dtype in (one, two) if dtype.kind is Kind.float]
    if len(floats) == 1:
        return floats[0]
    if floats:
        return _first(_holds_float, one, two, _WIDENED_FLOATS, "float32")
    return _first(_holds_integer, one, two, _WIDENED_INTEGERS, "float32")


def _as_stored(dtype: DType) -> DType:
    return DTYPES["uint8"] if dtype.kind is Kind.boolean else dtype


def _first(holds: Any, one: DType, two: DType, widened: Sequence[str], widest: str) -> DType:
    """Return the first type that represents all values of `one` and `two`, else `widest`.

    The candidates are `one`, `two` and `widened`. `holds(wide, narrow)` compares two types.
    """
    for name in (one.name, two.name, *widened):
        if all(holds(name, dtype.name) for dtype in (one, two)):
            return DTYPES[name]
    return DTYPES[widest]


def _holds_float(wide: str, narrow: str) -> bool:
    if _FLOATS[wide] == _FLOATS[narrow]:
        return wide == narrow  # two encodings in the same bits
    return all(a >= b for a, b in zip(_FLOATS[wide], _FLOATS[narrow], strict=True))


def _holds_integer(wide: str, narrow: str) -> bool:
    outer, inner = np.iinfo(wide), np.iinfo(narrow)
    return outer.min <= inner.min and inner.max <= outer.max
