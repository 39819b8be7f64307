"""The terms of findings, reports and pages, for `nkijit explain` and the glossary page.

The table is `glossary.toml`.
"""

from __future__ import annotations

import functools
import tomllib
from importlib.resources import files

_INTRODUCTION = """\
# Glossary

The terms of findings, reports and pages, in one sentence each. `nkijit explain TERM` prints one.
"""


@functools.cache
def glossary() -> dict[str, str]:
    """Return the meaning of each term. A key can list several terms: `moving, stationary`."""
    table = files("nkijit.reference").joinpath("glossary.toml").read_text(encoding="utf-8")
    return tomllib.loads(table)


@functools.cache
def _keys() -> dict[str, str]:
    """Map each single term, in small letters, to its key."""
    return {term.lower(): key for key in glossary() for term in key.split(", ")}


def terms() -> list[str]:
    """Return the single terms, in small letters."""
    return [*_keys()]


def term_of(word: str) -> tuple[str, str] | None:
    """Return a term with its meaning, or None. Letter case and the plural do not matter.

    Example: `term_of("partitions")` is the entry of `partition`.
    """
    lower = word.lower()
    key = _keys().get(lower) or _keys().get(lower.removesuffix("s"))
    return None if key is None else (key, glossary()[key])


def glossary_as_markdown() -> str:
    """Return all terms as a page of Markdown with one table."""
    rows = [f"| {term} | {meaning} |" for term, meaning in glossary().items()]
    return "\n".join([_INTRODUCTION, "| term | meaning |", "|---|---|", *rows]) + "\n"
