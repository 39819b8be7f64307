"""What is noted of objects, by their identity, for as long as they are alive.

`weakref.WeakKeyDictionary` compares objects, and calls Python code when one comes to its end, which
swallows an interrupt. Here entries of objects that are no more go when others are added.
"""

from __future__ import annotations

import weakref
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")
_FEW = 256


class Noted(Generic[_T]):
    """A value for each of some objects that can be weakly referenced."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[weakref.ref[Any], _T]] = {}
        """By the `id` of an object, which may have been another one's."""
        self._most = _FEW
        """Entries from which on those of objects that are no more are looked for."""

    def of(self, key: object) -> _T | None:
        """What is noted of an object, if anything."""
        found = self._of.get(id(key))
        return None if found is None or found[0]() is not key else found[1]

    def note(self, key: object, value: _T) -> _T:
        """Note a value, and return it. Raises TypeError for what has no weak references."""
        self._of[id(key)] = weakref.ref(key), value
        if len(self._of) > self._most:
            # Copied, for another thread may add one.
            for number, one in list(self._of.items()):
                if one[0]() is None and self._of.get(number) is one:
                    del self._of[number]
            self._most = max(_FEW, 2 * len(self._of))
        return value

    def __len__(self) -> int:
        return len(self._of)
