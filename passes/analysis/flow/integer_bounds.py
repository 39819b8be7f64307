"""Bounds of integers, and of the results of arithmetic on integers within bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from nkijit.dialects.dtypes import DType
from nkijit.dialects.nisa.select import MAX_INDEX
from nkijit.dialects.operators import COMPARISONS

_ZERO_BITS = 63
"""`Bounds.zeros` of the integer 0, which is a multiple of every power of two in 64 bits."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of integers: they are from `low` to `high`, and multiples of `2**zeros`."""

    low: int
    high: int
    zeros: int = 0
    grown: bool = False
    """True for integers that grow in a loop on the device; they count as exact in float32."""
    attained: bool = field(default=False, compare=False)
    """True if one of the integers certainly is `low`, and one is `high`."""

    @property
    def magnitude(self) -> int:
        """The largest possible absolute value."""
        return max(abs(self.low), abs(self.high))

    @property
    def fit_float32(self) -> bool:
        """True if float32 represents all of the integers exactly."""
        return self.grown or self.magnitude <= MAX_INDEX << self.zeros

    def __or__(self, other: Bounds) -> Bounds:
        if self.grown or other.grown:
            return with_grown(self, other)
        low, high = min(self.low, other.low), max(self.high, other.high)
        return Bounds(low, high, min(self.zeros, other.zeros))

    def within(self, dtype: DType) -> Bounds:
        """Return the bounds after a conversion to an integer type."""
        ends = any_of(dtype)
        if self.grown:
            return self
        if ends.low <= self.low and self.high <= ends.high:
            return self
        return Bounds(max(self.low, ends.low), min(self.high, ends.high))


def with_grown(one: Bounds, two: Bounds) -> Bounds:
    """Return the bounds of integers computed from `one` and `two`, of which one is grown."""
    if not one.fit_float32:
        return one
    return GROWN if two.fit_float32 else two


GROWN = Bounds(-MAX_INDEX, MAX_INDEX, grown=True)


def any_of(dtype: DType) -> Bounds:
    """Return the bounds of an integer type."""
    low, high = dtype.ends
    return Bounds(int(low), int(high))


def exactly(number: int) -> Bounds:
    """Return the bounds of one integer."""
    zeros = (number & -number).bit_length() - 1 if number else _ZERO_BITS
    return Bounds(number, number, zeros, attained=True)


ANY = Bounds(-(1 << 63), 1 << 63)


def combined(word: str, one: Bounds, two: Bounds) -> Bounds:
    """Return the bounds of the results of operator `word` for operands `one` and `two`."""
    if word in BOOLEAN:
        return Bounds(0, 1)
    binary = _BINARY.get(word)
    if one.grown or two.grown:
        return with_grown(one, two)
    return ANY if binary is None else binary(one, two)


BOOLEAN = (*COMPARISONS, "logical_and", "logical_or", "logical_xor")


def added(one: Bounds, two: Bounds) -> Bounds:
    zeros, attained = min(one.zeros, two.zeros), _with_a_number(one, two)
    return Bounds(one.low + two.low, one.high + two.high, zeros, attained=attained)


def _negated(one: Bounds) -> Bounds:
    return Bounds(-one.high, -one.low, one.zeros)


def multiplied(one: Bounds, two: Bounds) -> Bounds:
    ends = [a * b for a in (one.low, one.high) for b in (two.low, two.high)]
    zeros, attained = min(one.zeros + two.zeros, _ZERO_BITS), _with_a_number(one, two)
    return Bounds(min(ends), max(ends), zeros, attained=attained)


def _with_a_number(one: Bounds, two: Bounds) -> bool:
    """Whether the ends of both are attained, together: one of the two is a single number."""
    return one.attained and two.attained and (one.low == one.high or two.low == two.high)


def _maximum(one: Bounds, two: Bounds) -> Bounds:
    zeros = min(one.zeros, two.zeros)
    return Bounds(max(one.low, two.low), max(one.high, two.high), zeros)


def _minimum(one: Bounds, two: Bounds) -> Bounds:
    return _negated(_maximum(_negated(one), _negated(two)))


def _absolute(one: Bounds) -> Bounds:
    return Bounds(0, one.magnitude, one.zeros)


_BINARY: dict[str, Callable[[Bounds, Bounds], Bounds]] = {
    "add": added,
    "subtract": lambda one, two: added(one, _negated(two)),
    "multiply": multiplied,
    "maximum": _maximum,
    "minimum": _minimum,
}
UNARY: dict[str, Callable[[Bounds], Bounds]] = {
    "abs": _absolute,
    "relu": lambda one: _maximum(one, exactly(0)),
    "square": lambda one: _absolute(multiplied(one, one)),
}


def reduced(word: str, each: Bounds, terms: int) -> Bounds:
    """Return the bounds of a reduction of `terms` elements."""
    if each.grown:
        return each
    if word in ("add", "subtract"):
        bounds = Bounds(
            min(each.low * terms, each.low), max(each.high * terms, each.high), each.zeros
        )
        return bounds if word == "add" else bounds | _negated(bounds)
    if word in ("maximum", "minimum"):
        return each
    if word in BOOLEAN:
        return Bounds(0, 1)
    return each if terms == 1 else ANY
