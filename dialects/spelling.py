"""Suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a message that suggests the most similar known name; empty if none is."""
    names = list(known)
    near = get_close_matches(name, names)
    if not near:
        return ""

    def likeness(other: str) -> float:
        return SequenceMatcher(None, other, name).ratio()

    return f"; did you mean '{max(sorted(near, key=names.index), key=likeness)}'?"
