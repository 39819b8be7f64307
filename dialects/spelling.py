"""Suggestions for misspelt names, and nouns after numbers."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1: `1,024 tiles`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the end of a message that suggests the most similar known name; empty if none is.

    Capital and small letters count as equal, unless several names are equally similar.

    Args:
        name: the misspelt name.
        known: the names that exist.
        cutoff: the similarity, from 0 to 1, that a suggestion must reach.
    """
    names = list(known)
    near = set(get_close_matches(name.lower(), [each.lower() for each in names], cutoff=cutoff))
    if not near:
        return ""

    def likeness(other: str) -> tuple[float, float]:
        lower = SequenceMatcher(None, other.lower(), name.lower()).ratio()
        return lower, SequenceMatcher(None, other, name).ratio()

    best = max((each for each in names if each.lower() in near), key=likeness)
    return f"; did you mean '{best}'?"
