"""What a campaign is.

A module of `tests.fuzz` with a function

    def campaign(rng: Random, deadline: float) -> Count

is a campaign of the module's name, and the driver runs it: in rounds, again and again until its
time is up. A round

- draws all that is random from `rng`: with the same generator it tries the same cases in the same
  order, so that the number of a round is all that is needed to run it again;
- tries at least one case, and after each one looks whether `time.monotonic()` has passed
  `deadline`. A good round takes a second or a few: a finding is reproduced by its whole round;
- returns what it has tried and found. It raises `UnavailableError` where this machine lacks what it
  needs; any other exception is a finding, too.

A finding is a text, and files that show it without the campaign: `.mlir`, `.py`, `.html`. The
driver keeps both. Its first line says what is wrong in few words: findings whose first lines
differ in nothing but numbers and quoted words are taken for one mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic


class UnavailableError(Exception):
    """What a campaign needs is not on this machine."""


@dataclass(frozen=True)
class Finding:
    """Something that is wrong."""

    text: str
    """What is wrong; the first line in few words."""
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """What shows it, by file name."""

    @property
    def title(self) -> str:
        """The first line."""
        return self.text.partition("\n")[0]

    @property
    def kind(self) -> str:
        """The first line without what differs between cases of one mistake."""
        return re.sub(r"'[^']*'|\"[^\"]*\"|\S*\d\S*", "…", self.title)


@dataclass
class Count:
    """What a round has tried and found."""

    cases: int = 0
    passed_over: int = 0
    """Cases that turned out to be none, such as kernels that are not valid."""
    findings: list[Finding] = field(default_factory=list[Finding])

    def add(self, other: Count) -> None:
        """Count what another round has tried, too."""
        self.cases += other.cases
        self.passed_over += other.passed_over
        self.findings += other.findings


def until(deadline: float, most: int) -> Iterator[int]:
    """Numbers from 0 while there is time, one at least and `most` at most."""
    for number in range(most):
        if number and monotonic() > deadline:
            return
        yield number
