"""Error bounds of rounding, shared by all comparisons of numbers.

An instruction computes in float32 and rounds once to the data type of its result. Let a value be a
sum of `depth` terms that depend on previously rounded values. Its error is at most

    u(dtype) · |value|                       rounding of the result
    + earlier · scale                        previous rounding of operands
    + depth · u(float32) · scale             float32 arithmetic, term by term
    + half of the smallest number            rounding near zero

where `u` is the unit roundoff and `scale` is the sum of the magnitudes of the terms, which exceeds
|value| where terms cancel. Source: N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd
edition, sections 2.2 and 4.2; data types as in `nki.language`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np
import numpy.typing as npt

from nkijit.dialects.dtypes import DTYPES, DType, Kind
from nkijit.passes.numerics.storage import STORAGE, dtype_of_array

Array = npt.NDArray[Any]
DTypeLike = DType | str | np.dtype[Any] | type
"""A data type: NKI's, its public name (`"bfloat16"`), or an argument of `np.dtype`."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """The errors caused by rounding once to a data type."""

    unit: float
    """The unit roundoff: the largest relative error of a normal number."""
    absolute: float
    """The largest absolute error of numbers near zero; 0.5 for integers."""
    largest: float
    """The largest finite number."""
    has_infinity: bool
    """True if numbers above `largest` become infinite; otherwise they become `largest` or NaN."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The largest error of a result: `value · |result| + scale · size of the terms + absolute`."""

    value: float
    scale: float
    absolute: float

    def of(self, reference: Array, scale: Array | float | None = None) -> Array:
        """Return the largest error of each element, as float64.

        Args:
            reference: the expected results, in any data type.
            scale: the size of the terms of each element, a number or an array that broadcasts. By
                default, the largest finite magnitude in `reference`, which is correct for sums of
                terms that are no larger than the largest result.
        """
        size = np.abs(_wide(reference))
        if scale is None:
            finite = size[np.isfinite(size)]
            scale = float(finite.max()) if finite.size else 0.0
        with np.errstate(all="ignore"):
            allowed = self.value * size + self.scale * np.abs(_wide(scale)) + self.absolute
        return np.asarray(allowed)


def _rounding(name: str) -> Rounding:
    kind = DTYPES[name].kind if name in DTYPES else None
    if kind is Kind.packed:
        raise ValueError(f"{name} holds packed elements; compare what they are unpacked to")
    if name == "tfloat32":  # float32 with 10 mantissa bits
        single = _rounding("float32")
        return Rounding(2.0**-11, single.absolute, single.largest, True)
    stored = STORAGE[name] if kind is not None else np.dtype(name)
    if kind is Kind.boolean or stored.kind == "b":
        return Rounding(0.0, 0.0, 1.0, False)
    if stored.kind in "iu":
        return Rounding(0.0, 0.5, float(np.iinfo(stored).max), False)
    facts = cast(Any, ml_dtypes).finfo(stored)
    with np.errstate(all="ignore"):
        infinite = bool(np.isinf(np.array(np.inf, np.float32).astype(stored).astype(np.float32)))
    return Rounding(
        float(facts.eps) / 2, float(facts.smallest_subnormal) / 2, float(facts.max), infinite
    )


def rounding(dtype: DTypeLike) -> Rounding:
    """Return the errors caused by rounding to a data type.

    Raises ValueError for packed types (`float8_e4m3fn_x4`), which are not numbers, and TypeError
    for other arguments that are not data types.

    Example: `rounding("bfloat16").unit` is 2⁻⁸ = 0.00390625.
    """
    if isinstance(dtype, DType):
        return _rounding(dtype.name)
    if isinstance(dtype, str) and dtype in DTYPES:
        return _rounding(dtype)
    stored = np.dtype(dtype)
    named = dtype_of_array(np.empty(0, stored))
    return _rounding(stored.name if named is None else named.name)


def tolerance(
    dtype: DTypeLike, depth: int = 1, *, inputs: DTypeLike | None = None, roundings: int = 0
) -> Tolerance:
    """Return the tolerance of a result.

    Args:
        dtype: the data type of the result.
        depth: the number of dependent float32 operations. For a sum, the number of terms: 128 for a
            matmul over 128 partitions. 0 for data that only moves.
        inputs: the narrowest data type that values were rounded to before, if any.
        roundings: the number of successive roundings to `inputs`.

    Example: `tolerance("float32", 128, inputs="bfloat16", roundings=2)` for a matmul into PSUM of
    operands that were computed in bfloat16.
    """
    if depth < 0 or roundings < 0:
        raise ValueError(f"depth and roundings are counts, got {depth} and {roundings}")
    last = rounding(dtype)
    before = 0.0 if inputs is None else roundings * rounding(inputs).unit
    return Tolerance(last.unit, before + depth * rounding("float32").unit, last.absolute)


def departs(
    actual: Array,
    reference: Array,
    allowed: Tolerance | Array,
    *,
    scale: Array | float | None = None,
    dtype: DTypeLike | None = None,
) -> npt.NDArray[np.bool_]:
    """Return True for elements that differ from a reference by more than rounding explains.

    Args:
        actual: the computed results.
        reference: the expected results, of the same shape, preferably in float32 or float64.
        allowed: the tolerance, or the largest error of each element.
        scale: see `Tolerance.of`.
        dtype: the data type that `actual` was stored in; by default the array's data type.

    NaN agrees only with NaN, and an infinity only with the same infinity. A reference beyond the
    range of `dtype` agrees with its rounding: the infinity or, without infinities, the largest
    number or NaN. Raises ValueError when shapes differ.
    """
    one, other = _wide(actual), _wide(reference)
    if one.shape != other.shape:
        raise ValueError(f"shapes differ: {one.shape} and {other.shape}")
    limit = rounding(actual.dtype if dtype is None else dtype)
    margin = allowed.of(other, scale) if isinstance(allowed, Tolerance) else _wide(allowed)
    margin = np.where(np.isfinite(other), margin, 0.0)  # infinities must be equal
    with np.errstate(all="ignore"):
        beyond = np.abs(other) + margin > limit.largest
        overflows = beyond & (
            (np.isinf(one) & (np.signbit(one) == np.signbit(other)))
            if limit.has_infinity
            else np.isnan(one)
        )
        clipped = np.clip(other, -limit.largest, limit.largest)
        held = clipped if not limit.has_infinity else other
        close = np.abs(one - held) <= margin
    agree = close | (one == other) | (np.isnan(one) & np.isnan(other))
    return ~(agree | (overflows & ~np.isnan(other)))


def _wide(values: Array | float) -> npt.NDArray[np.float64]:
    return np.asarray(values).astype(np.float64)
