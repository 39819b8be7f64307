"""The kinds of advice: one table, which `nkijit advise --list` and docs/advice.md show."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Numbers(StrEnum):
    """What a change does to the results of a kernel."""

    same = "same"
    """They are the same, bit by bit."""
    rounding = "rounding"
    """They are rounded at other places, or added up in another order."""
    change = "change"
    """They lose precision, or the kernel's arguments become others."""
    estimate = "estimate"
    """The experiment computes nothing of use: it stands for a kernel that is written otherwise."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of advice."""

    id: str
    says: str
    """What an author does."""
    experiment: str
    """What is changed in a copy of the kernel to know what it gains."""
    numbers: Numbers
    source: str
    """The public document that recommends it."""


KINDS: dict[str, Kind] = {}
"""All of them, by id, in the order of the document."""


def _kind(id: str, says: str, experiment: str, numbers: Numbers, source: str) -> Kind:
    made = KINDS[id] = Kind(id, says, experiment, numbers, source)
    return made


_GUIDE = "NKI performance guide"

REPEATED_LOAD = _kind(
    "repeated-load",
    "Load a slice of HBM once and keep it in SBUF: hoist the load out of the loop that repeats it.",
    "Of loads that bring the same bytes the first one stays. What the others brought is read "
    "from its tile. A buffer that is filled again and again becomes tiles of its own first. Where "
    "SBUF has no room for all slices, a half or a quarter of them are kept.",
    Numbers.same,
    f"{_GUIDE}, Opt #1; matrix multiplication tutorial, hoisted loads",
)
MERGED_DMA = _kind(
    "merged-dma",
    "Move neighbouring slices of HBM with one DMA.",
    "DMAs of one line that step through a tensor become one DMA of their union, into or out of "
    "one tile of which the tiles of before are parts.",
    Numbers.same,
    f"{_GUIDE}, Opt #7; NKI DMA bandwidth guide",
)
