"""Encodes lists of numbers so that they deflate to half the size; the page's `readColumns` decodes.

Adjacent numbers in a list are similar: positions in a program, times, addresses. Their differences
are written, because differences repeat where instructions do. A list is replaced by an object with
one key, which no other object of a report has:

- `{"~whole": [1, 1, 1]}`: a column of numbers: the first number, then the differences;
- `{"~tenths": [5646, 6341]}`: the same in tenths, for times;
- `{"~rows": [column, column]}`: rows of equal length, column by column;
- `{"~lists": [lengths, column]}`: lists of any length, concatenated.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

SHORTEST = 32
"""Lists with fewer numbers are not replaced by an object."""
_LARGEST = 1 << 52
"""The bound of encoded numbers: JavaScript represents numbers up to this bound exactly."""


def packed(values: Sequence[Any]) -> Any:
    """Return a list for JSON: the same list, or a smaller object that represents the list.

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
    # The conditions also exclude infinities, NaN and -0.0.
    exact = (tenths / 10 == numbers) & (np.abs(tenths) < _LARGEST)
    if not (exact.all() and not np.signbit(numbers[numbers == 0]).any()):
        return values
    return {"~tenths": np.diff(tenths.astype(np.int64), prepend=0).tolist()}
