"""Long lists of numbers in a form that deflates to half: `readColumns` of the page reads it.

Neighbours in a column are near each other: places in a program, times, addresses. Of them the
differences are written, which repeat themselves where instructions do. What stands in the place of
a list is an object with one key, which no other object of a report has:

- `{"~whole": [1, 1, 1]}`: the first number of a column, and what is added to it each time;
- `{"~tenths": [5646, 6341]}`: the same, in tenths, as times are;
- `{"~rows": [column, column]}`: rows of equal length, column by column;
- `{"~lists": [lengths, column]}`: lists of any length, one behind the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

SHORTEST = 32
"""Shorter lists stay as they are."""
_LARGEST = 1 << 52
"""Numbers up to it, and their tenths, are the same ones in JavaScript."""


def packed(values: Sequence[Any]) -> Any:
    """A list for JSON: itself, or what is shorter and stands for it.

    Args:
        values: numbers, text, or lists of them, also nested.

    Example:
        `packed(range(3, 40))` is `{"~whole": [3, 1, 1, …]}`.
    """
    if len(values) < SHORTEST:
        return values
    kinds = set(map(type, values))
    if kinds == {int}:
        return _whole(values)
    if kinds <= {int, float}:
        return _tenths(values)
    if not all(issubclass(kind, (list, tuple)) for kind in kinds):
        return values
    lengths = list(map(len, values))
    if 0 < lengths[0] == min(lengths) == max(lengths):
        columns = list(zip(*values, strict=True))
        return {"~rows": [packed(column) for column in columns]}
    return {"~lists": [packed(lengths), packed(list(chain.from_iterable(values)))]}


def _whole(values: Sequence[int]) -> Any:
    if max(values) > _LARGEST or min(values) < -_LARGEST:
        return values
    return {"~whole": np.diff(np.array(values, np.int64), prepend=0).tolist()}


def _tenths(values: Sequence[float]) -> Any:
    numbers = np.array(values, np.float64)
    tenths = np.rint(numbers * 10)
    # Infinities and NaN compare as unequal, or are too large; -0.0 is not 0.
    exact = (tenths / 10 == numbers) & (np.abs(tenths) < _LARGEST)
    if not (exact.all() and not np.signbit(numbers[numbers == 0]).any()):
        return values
    return {"~tenths": np.diff(tenths.astype(np.int64), prepend=0).tolist()}
