"""Suggestions for misspelt names, and nouns after numbers."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, in the plural unless the number is 1: `1,024 tiles`.

    Args:
        number: the number.
        noun: the noun for the number 1, with its adjectives.
        plural: the noun for other numbers; by default `noun` with an s.
    """
    return f"{number:,} {in_number(number, noun, plural)}"


def numbered(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun as `counted` does, without separators: `1024 tiles`.

    Findings and listings write numbers as Python does.
    """
    return f"{number} {in_number(number, noun, plural)}"


def in_number(number: int, noun: str, plural: str | None = None) -> str:
    """Return the noun of `counted` without the number, for texts such as `the loops i and j`."""
    return noun if number == 1 else plural or f"{noun}s"


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the end of a message that suggests the most similar known names; empty if none is.

    The suggestion is one name, unless the name is a misspelling of several. Capital and small
    letters count as equal, unless several names are equally similar.

    Args:
        name: the misspelt name.
        known: the names that exist.
        cutoff: the similarity, from 0 to 1, that a suggestion must reach.
    """
    names = list(dict.fromkeys(known))
    near = set(get_close_matches(name.lower(), [each.lower() for each in names], cutoff=cutoff))
    if not near:
        return ""

    def likeness(other: str) -> tuple[float, float]:
        lower = SequenceMatcher(None, other.lower(), name.lower()).ratio()
        return lower, SequenceMatcher(None, other, name).ratio()

    best = max((each for each in names if each.lower() in near), key=likeness)
    others = [each for each in names if each != best and is_misspelling(name, each)]
    meant = [best, *others] if is_misspelling(name, best) else [best]
    return f"; did you mean {' or '.join(map(repr, meant))}?"


def is_misspelling(name: str, meant: str) -> bool:
    """Return whether a name differs from another by one letter too many or too few, or by a swap.

    The longer name has at least four letters. Digits never differ.
    """
    if max(len(name), len(meant)) < 4 or name == meant:
        return False
    if len(name) == len(meant):
        return any(_swapped(name, at) == meant for at in range(len(name) - 1))
    short, long = sorted((name, meant), key=len)
    return any(
        long[:at] + long[at + 1 :] == short and long[at].isalpha() for at in range(len(long))
    )


def _swapped(name: str, at: int) -> str:
    """Return a name with the letter at an index and the next one exchanged."""
    one, two = name[at : at + 2]
    return name[:at] + two + one + name[at + 2 :] if (one + two).isalpha() else name
