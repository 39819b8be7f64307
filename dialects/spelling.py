"""Names that do not exist, answered with the one that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message: the known name that was probably meant; empty if there is none."""
    names = list(known)
    near = get_close_matches(name, names)
    if not near:
        return ""

    def likeness(other: str) -> float:
        return SequenceMatcher(None, other, name).ratio()

    return f"; did you mean '{max(sorted(near, key=names.index), key=likeness)}'?"
