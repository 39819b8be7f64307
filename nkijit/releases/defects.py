"""The known defects of NKI's compilers and devices, by release.

The table is `defects.toml`. nkijit computes the documented results; these entries are about kernels
that a release compiles to something else, or does not compile although its documents allow them.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from nkijit.releases.table import Release, release, releases


@dataclass(frozen=True, slots=True)
class Defect:
    """A known defect."""

    id: str
    first: Release
    """The first release with the defect, as far as documents report it."""
    fixed: Release | None
    """The release that fixes the defect; None if no document reports a fix."""
    text: str
    """The defect in words, for the message of its findings."""
    help: str
    """How to avoid the defect."""
    source: str
    """The public document that reports the defect."""
    calls: frozenset[str]
    """The functions whose calls have the defect, e.g. `nl.copy`; empty if all instructions have it.
    """

    @property
    def affected(self) -> str:
        """The affected releases, in words: `NKI 0.2 to 0.5`."""
        if self.fixed is None:
            return f"{self.first} and newer"
        last = releases()[releases().index(self.fixed) - 1]
        return str(last) if last == self.first else f"{self.first} to {last.version}"

    def affects(self, used: Release) -> bool:
        """Whether a release has the defect."""
        return self.first <= used and (self.fixed is None or used < self.fixed)


@functools.cache
def defects() -> tuple[Defect, ...]:
    """Return all known defects, in the order of the table."""
    text = files("nkijit.releases").joinpath("defects.toml").read_text(encoding="utf-8")
    return tuple(map(_defect, tomllib.loads(text)["defect"]))


def _defect(table: Mapping[str, Any]) -> Defect:
    fixed = table.get("fixed")
    return Defect(
        table["id"],
        release(table.get("first", releases()[0].version)),
        None if fixed is None else release(fixed),
        table["text"],
        table["help"],
        table["source"],
        frozenset(table.get("call", ())),
    )


__all__ = ["Defect", "defects"]
