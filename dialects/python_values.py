"""Python values of users: as integers, and as texts for messages."""

from __future__ import annotations

import operator
from types import FunctionType
from typing import Any, cast


def one_line(value: Any, longest: int = 100) -> str:
    """Return a value as Python prints it, on one line of at most `longest` characters.

    Some values have no such text: integers of more than 4300 digits, and lists that are nested too
    deeply. The text then names their type.
    """
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):
        text = f"a value of type {type(value).__name__} that is too large to print"
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def described(value: Any) -> str:
    """Return a value, shortened to one line, and its type for a message."""
    if isinstance(value, FunctionType):
        return f"the function {value.__qualname__}"
    return f"{one_line(value, 60)} ({type(value).__name__})"


def as_index(value: Any) -> int | None:
    """Return an integer of Python or NumPy as an int; None for other values, also for bool."""
    if type(value) is int:
        return value
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def as_float(value: Any) -> float | None:
    """Return a number of Python or NumPy as a float; None for other values and too large ones."""
    if type(value) is float:
        return value
    has_shape = getattr(value, "shape", ()) != ()
    if has_shape or isinstance(value, type) or not hasattr(value, "__float__"):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def numbers_in(size: int, item: Any) -> range | None:
    """Return the numbers below `size` that a slice selects.

    None for a value that is no slice of integers, and for a step of 0.
    """
    if not isinstance(item, slice):
        return None
    given = cast("slice[Any, Any, Any]", item)
    parts = (given.start, given.stop, given.step)
    numbers = [as_index(part) for part in parts]
    if numbers[2] == 0 or any(
        number is None and part is not None for number, part in zip(numbers, parts, strict=True)
    ):
        return None
    return range(size)[slice(*numbers)]
