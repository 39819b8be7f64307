"""Comparison of results with a reference, within the errors that rounding explains."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from nkijit.dialects.spelling import counted
from nkijit.frameworks.arrays import framework_of
from nkijit.passes.diagnostics.tables import aligned
from nkijit.passes.numerics.storage import dtype_of_array
from nkijit.passes.values.rounding import DTypeLike, Tolerance, departs, rounding, tolerance
from nkijit.tracing.target import resolve_target
from nkijit.tracing.tracebacks import without_own_frames

Array = npt.NDArray[Any]
_MOST_ROWS = 8
"""The maximum number of rows in the table of the worst elements."""


@without_own_frames
def assert_close(
    actual: Any,
    reference: Any,
    *,
    dtype: DTypeLike | None = None,
    depth: int = 1,
    intermediate: DTypeLike | None = None,
    roundings: int = 1,
    scale: Any = None,
) -> None:
    """Assert that results are as close to a reference as rounding permits.

    The tolerance is not chosen by hand, but follows from dtypes and the number of operations:

        u(dtype) · |reference| + (depth · u(float32) + roundings · u(intermediate)) · scale

    plus half of the dtype's smallest positive number. u is half of the distance between 1 and the
    next number of a dtype.

    Args:
        actual: an array of NumPy, PyTorch or JAX; or a tuple, list or dict of arrays, as kernels
            return them.
        reference: the expected results in the same container, preferably computed in float64 from
            the kernel's exact inputs.
        dtype: the dtype of stored results; by default that of `actual`.
        depth: the number of successive float32 operations: 1 for one instruction, the number of
            terms for a sum, 512 for a matmul over 512. Functions (`nl.exp`, `nl.gelu`) count about
            4. 0 for results that are only moved, which must be as exact as `dtype`.
        intermediate: the narrowest dtype in which intermediate values were stored, if any.
        roundings: the number of successive roundings to `intermediate`.
        scale: the magnitude of the added terms: an array that broadcasts (`np.abs(a) @ np.abs(b)`
            for a product), or a number. Default: the largest magnitude in `reference`, which is too
            small if large terms cancel everywhere.

    Non-finite numbers must match: NaN where the reference is NaN, the same infinity, and an
    infinity (or the largest number) where the reference exceeds the range of `dtype`.

    Raises:
        AssertionError: elements, shapes or containers differ. The message has the number of
            different elements, their positions, and the differences in units in the last place.
        TypeError: an array has no numbers.

    Example:

        >>> import numpy as np
        >>> from nkijit.testing import assert_close
        >>> a, b = np.ones((2, 3), np.float32) / 3, np.ones((3, 4), np.float32) / 7
        >>> assert_close(a @ b, a.astype(np.float64) @ b.astype(np.float64), depth=3)
    """
    __tracebackhide__ = True
    parts = list(_parts("result", actual, reference))
    allowed: dict[str, Tolerance] = {}
    failures: list[str] = []
    for name, one, other in parts:
        for array in (one, other):
            if array.dtype.kind in "OSUMm":
                raise TypeError(f"{name}: expected an array of numbers, got one of {array.dtype}")
        stored = one.dtype if dtype is None else dtype
        key = str(stored)
        if key not in allowed:
            count = roundings if intermediate is not None else 0
            allowed[key] = tolerance(stored, depth, inputs=intermediate, roundings=count)
        size = _scale_of(other) if scale is None else np.asarray(_numpy(scale), np.float64)
        failure = _Comparison(name, one, other, stored, allowed[key], size).failure()
        failures += [failure] if failure else []
    if failures:
        raise AssertionError("\n\n".join([*failures, _HELP]))


_HELP = (
    "  = help: see which instruction departs first: nkijit bisect; or say how much is computed:\n"
    "          depth= terms of a sum, intermediate= the narrowest data type on the way"
)


def _parts(name: str, actual: Any, reference: Any) -> list[tuple[str, Array, Array]]:
    """Return the arrays to compare: (name, actual, reference)."""
    if isinstance(reference, Mapping) or isinstance(actual, Mapping):
        one, other = cast("Mapping[Any, Any]", actual), cast("Mapping[Any, Any]", reference)
        if not (isinstance(actual, Mapping) and isinstance(reference, Mapping)):
            raise AssertionError(_other_container(name, actual, reference))
        if set(one) != set(other):
            raise AssertionError(f"{name} has {sorted(one)}, the reference {sorted(other)}")
        return [p for key in other for p in _parts(f"{name}[{key!r}]", one[key], other[key])]
    if isinstance(actual, (tuple, list)) and isinstance(reference, (tuple, list)):
        items, others = cast("Sequence[Any]", actual), cast("Sequence[Any]", reference)
        if len(items) != len(others):
            parts = counted(len(items), "part")
            raise AssertionError(f"{name} has {parts}, the reference {len(others)}")
        return [
            part
            for place, pair in enumerate(zip(items, others, strict=True))
            for part in _parts(f"{name}[{place}]", *pair)
        ]
    if actual is None or isinstance(actual, (tuple, list)):
        raise AssertionError(_other_container(name, actual, reference))
    one, other = _numpy(actual), _numpy(reference)
    if one.shape != other.shape:
        raise AssertionError(f"{name} has shape {one.shape}, the reference {other.shape}")
    return [(name, one, other)]


def _other_container(name: str, actual: Any, reference: Any) -> str:
    return f"{name} is of type {type(actual).__name__}, the reference of {type(reference).__name__}"


def _numpy(value: Any) -> Array:
    framework = framework_of(value)
    if framework is not None:
        return framework.to_array(framework.loaded, value)
    return np.asarray(value)


def _scale_of(reference: Array) -> Array:
    """Return the largest finite magnitude in an array."""
    size = np.abs(reference.astype(np.float64))
    finite = size[np.isfinite(size)]
    return np.asarray(finite.max() if finite.size else 0.0)


class _Comparison:
    def __init__(
        self,
        name: str,
        actual: Array,
        reference: Array,
        dtype: DTypeLike,
        allowed: Tolerance,
        scale: Array,
    ):
        self.name = name
        self.stored = actual.dtype
        self.ref_dtype = reference.dtype
        self.dtype = dtype
        self.allowed = allowed
        self.scale = scale
        self.actual = actual.astype(np.float64)
        self.reference = reference.astype(np.float64)
        self.wrong = departs(actual, reference, allowed, scale=scale, dtype=dtype)

    def failure(self) -> str:
        """Describe the differences in several lines; "" if there are none."""
        count = int(self.wrong.sum())
        if not count:
            return ""
        bounds = self.allowed.of(self.reference, self.scale)
        with np.errstate(all="ignore"):
            off = np.abs(self.actual - self.reference)
            parts = np.where(np.isfinite(off), off / np.where(bounds > 0, bounds, np.nan), np.inf)
        parts = np.where(np.isnan(parts), np.inf, parts)
        places = np.argwhere(self.wrong)
        order = np.argsort(-parts[self.wrong], kind="stable")[:_MOST_ROWS]
        rows = [self._row(tuple(map(int, places[i])), off, parts) for i in order]
        total = self.actual.size
        lines = [
            f"{count:,} of {counted(total, 'element')} of {self.name} "
            f"({count / total:.2%}) are further from the reference than rounding explains",
            f"  {self.name}: {_shape(self.actual)} {self.stored}, reference: {self.ref_dtype}",
            f"  allowed: {self._allowed()}",
            f"  where: {_extent(places, self.actual.shape)}",
            *(f"  {text}" for text in self._not_finite()),
            *aligned([_HEAD, *rows], _to_the_right, indent="  "),
        ]
        if count > len(rows):
            lines.append(f"  … {count - len(rows):,} more")
        if (
            dtype_of_array(np.empty(0, self.ref_dtype)) is not None
            and rounding(self.ref_dtype).unit > 1e-7
        ):
            lines.append(
                f"  = note: the reference is rounded to {self.ref_dtype} itself; "
                "compute it in float64"
            )
        return "\n".join(lines)

    def _allowed(self) -> str:
        scale = f"{float(self.scale):.4g}" if self.scale.ndim == 0 else "the given scale"
        terms = [
            f"{self.allowed.value:.3g} · |reference|" if self.allowed.value else "",
            f"{self.allowed.scale:.3g} · {scale}" if self.allowed.scale else "",
            f"{self.allowed.absolute:.3g}",
        ]
        return " + ".join(term for term in terms if term)

    def _not_finite(self) -> list[str]:
        nan, expected = np.isnan(self.actual), np.isnan(self.reference)
        infinite, meant = np.isinf(self.actual), np.isinf(self.reference)
        wrong = self.wrong
        kinds = (
            ("NaN where the reference has none", nan & ~expected & wrong),
            ("no NaN where the reference is NaN", expected & ~nan & wrong),
            ("infinite where the reference is finite", infinite & ~meant & ~expected & wrong),
            ("not the infinity of the reference", meant & ~nan & wrong),
        )
        lines = [f"{int(at.sum()):,} {text}" for text, at in kinds if at.any()]
        if kinds[0][1].any():
            lines.append(
                "(unwritten memory reads as NaN: NKIJIT_SANITIZE=1 ends a run at its first use)"
            )
        return lines

    def _row(self, index: tuple[int, ...], off: Array, parts: Array) -> tuple[str, ...]:
        partition = index[0] % resolve_target().pmax if index else 0
        free = ", ".join(map(str, index[1:])) or "0"
        actual, reference = self.actual[index], self.reference[index]
        return (
            f"[{', '.join(map(str, index))}]",
            str(partition),
            free,
            f"{actual:.8g}",
            f"{reference:.8g}",
            f"{off[index]:.3g}",
            _ulps(off[index], reference, self.dtype),
            f"{parts[index]:.3g}" if math.isfinite(parts[index]) else "-",
        )


_HEAD = ("index", "partition", "free", "got", "expected", "off by", "ulps", "times allowed")


def _to_the_right(place: int, _: str) -> bool:
    return place > 0


def _ulps(off: float, reference: float, dtype: DTypeLike) -> str:
    """Format a difference in units in the last place at the reference."""
    of = rounding(dtype)
    if not math.isfinite(off):
        return "-"
    if not of.unit:  # integers
        return f"{off:.0f}"
    exponent = math.frexp(reference)[1] - 1 if reference else -1100
    unit = max(2 * of.unit * math.ldexp(1.0, max(exponent, -1000)), 2 * of.absolute)
    return f"{off / unit:,.1f}" if off < 1e6 * unit else f"{off / unit:.1e}"


def _shape(array: Array) -> str:
    return "x".join(map(str, array.shape)) or "a number"


def _extent(places: npt.NDArray[np.intp], shape: tuple[int, ...]) -> str:
    """Describe the bounding box of elements, and the fraction of the box that they fill."""
    if not shape:
        return "the number"
    low, high = places.min(axis=0), places.max(axis=0)
    texts: list[str] = []
    for first, last, size in zip(low, high, shape, strict=True):
        if first == 0 and last == size - 1:
            texts.append(":")
        else:
            texts.append(str(first) if first == last else f"{first}:{last + 1}")
    inside = math.prod(int(b - a) + 1 for a, b in zip(low, high, strict=True))
    filled = "all of" if inside == len(places) else f"{len(places) / inside:.0%} of"
    return f"{filled} [{', '.join(texts)}]"
