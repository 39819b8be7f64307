"""The interface between campaigns and the driver.

A campaign is a module of `tests.fuzz` with a function

    def campaign(rng: Random, deadline: float) -> Count

The driver runs it in rounds until its time is up. A round

- takes all random choices from `rng`, so that the number of a round suffices to reproduce it: with
  the same generator it tries the same cases in the same order;
- tries at least one case, and stops when `time.monotonic()` has passed `deadline`. It should take
  a few seconds at most, because a finding is reproduced by running its whole round;
- returns its counts and findings. It raises `UnavailableError` if a requirement is missing on this
  machine. Any other exception is reported as a finding.

A finding has a text, and files that reproduce it without the campaign: `.mlir`, `.py`, `.html`. The
driver stores both. The first line of the text is a summary: findings whose summaries differ only in
numbers and quoted words are counted as one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic


class UnavailableError(Exception):
    """A requirement of a campaign is missing on this machine."""


@dataclass(frozen=True)
class Finding:
    """A failure that a campaign has found."""

    text: str
    """Description; its first line is a summary."""
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """Contents of files that reproduce it, by name."""

    @property
    def title(self) -> str:
        """The first line."""
        return self.text.partition("\n")[0]

    @property
    def kind(self) -> str:
        """The first line without numbers and quoted words, to group equal failures."""
        return re.sub(r"'[^']*'|\"[^\"]*\"|\S*\d\S*", "…", self.title)


@dataclass
class Count:
    """The counts and findings of one or more rounds."""

    cases: int = 0
    skipped: int = 0
    """Cases that could not be tested, such as invalid kernels."""
    findings: list[Finding] = field(default_factory=list[Finding])
    outcomes: Counter[str] = field(default_factory=Counter[str])
    """How often a campaign has seen each outcome, for campaigns with several good ones."""

    def add(self, other: Count) -> None:
        """Add the counts and findings of another round."""
        self.cases += other.cases
        self.skipped += other.skipped
        self.findings += other.findings
        self.outcomes += other.outcomes


def until(deadline: float, most: int) -> Iterator[int]:
    """Yield numbers from 0 until the deadline: at least one, at most `most`."""
    for number in range(most):
        if number and monotonic() > deadline:
            return
        yield number
