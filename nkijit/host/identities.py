"""A map from objects to values, by object identity, that does not keep the objects alive.

`weakref.WeakKeyDictionary` compares objects with `==`, and runs Python code when an object is
destroyed, which swallows an interrupt. Here, entries of dead objects are removed when other entries
are added.
"""

from __future__ import annotations

import weakref
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")
_FEW = 256


class Noted(Generic[_T]):
    """A map with weakly referenced keys that are compared by identity."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[weakref.ref[Any], _T]] = {}
        """(weak reference, value) by the `id` of the key; the reference detects a reused `id`."""
        self._most = _FEW
        """The number of entries above which the entries of dead objects are removed."""

    def of(self, key: object) -> _T | None:
        """Return the value stored for an object; None if there is none."""
        found = self._of.get(id(key))
        return None if found is None or found[0]() is not key else found[1]

    def note(self, key: object, value: _T) -> _T:
        """Store the value for an object and return it.

        Raises TypeError for an object that does not support weak references.
        """
        self._of[id(key)] = weakref.ref(key), value
        if len(self._of) > self._most:
            # A copy: another thread may add an entry meanwhile.
            for number, one in list(self._of.items()):
                if one[0]() is None and self._of.get(number) is one:
                    del self._of[number]
            self._most = max(_FEW, 2 * len(self._of))
        return value

    def __len__(self) -> int:
        return len(self._of)
