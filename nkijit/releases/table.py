"""The releases of NKI: their names and arguments, and the rules of their compilers.

The table is `releases.toml`. Its rows are public names: `nki.isa.dma_copy` for a function,
`nki.isa.dma_copy(priority)` for one of its arguments, `nki.language.exp()` for the call of an
operator that earlier releases only accept as an argument. A name without a row exists in all
releases, an argument without a row in the same releases as its function.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from datetime import date


@dataclass(frozen=True, order=True, slots=True)
class Release:
    """A release of NKI, e.g. `NKI 0.5` of Neuron SDK 2.31. Later releases compare greater."""

    number: tuple[int, int]
    sdk: str = field(compare=False)
    """The Neuron SDK that contains the release, e.g. `2.31`."""
    date: date = field(compare=False)
    """The release date of the Neuron SDK."""
    adds: frozenset[str] = field(compare=False)
    """The names and arguments (rows of the table) that this release adds."""
    removes: Mapping[str, str] = field(compare=False)
    """The rows that this release removes, each with its replacement; "" if none is known."""
    renames: Mapping[str, str] = field(compare=False)
    """The arguments that this release renames, each with the new name."""
    deprecates: Mapping[str, str] = field(compare=False)
    """The rows that this release deprecates, each with its replacement."""
    reorders: Mapping[str, int] = field(compare=False)
    """Functions whose arguments this release reorders, with the first changed position."""
    imposes: frozenset[str] = field(compare=False)
    """Ids of rules about a kernel's Python that the release's compiler introduces."""
    lifts: frozenset[str] = field(compare=False)
    """Ids of rules about a kernel's Python that the release's compiler drops."""

    @property
    def version(self) -> str:
        """The version as text, e.g. `0.5`."""
        return ".".join(map(str, self.number))

    def __str__(self) -> str:
        return f"NKI {self.version}"


@functools.cache
def releases() -> tuple[Release, ...]:
    """Return all releases, the oldest first."""
    import tomllib  # importing kernels needs no table of releases

    text = files("nkijit.releases").joinpath("releases.toml").read_text(encoding="utf-8")
    return tuple(map(_release, tomllib.loads(text)["release"]))


def _release(table: Mapping[str, Any]) -> Release:
    major, minor = table["version"].split(".")
    renames: dict[str, str] = table.get("renames", {})
    adds = {f"{owner}.{name}" for owner, names in table["adds"].items() for name in names.split()}
    adds |= {f"{function_of(old)}({new})" for old, new in renames.items()}
    return Release(
        (int(major), int(minor)),
        table["sdk"],
        table["date"],
        frozenset(adds),
        {**table.get("removes", {}), **{old: f"use '{new}'" for old, new in renames.items()}},
        renames,
        table.get("deprecates", {}),
        table.get("reorders", {}),
        frozenset(table.get("imposes", ())),
        frozenset(table.get("lifts", ())),
    )


def release(version: str | None = None) -> Release:
    """Return the release of a version (`0.5` or `0.5.0`), by default the newest.

    Raises ValueError, with the known versions, for an unknown version.
    """
    if version is None:
        return releases()[-1]
    by_version = {r.version: r for r in releases()}
    found = None
    if isinstance(cast(Any, version), str):
        found = by_version.get(version) or by_version.get(version.removesuffix(".0"))
    if found is None:
        from nkijit.dialects.python_values import one_line  # `nkijit --version` does without

        raise ValueError(
            f"unknown release {one_line(version)} of NKI; known: {', '.join(by_version)}"
        )
    return found


def function_of(name: str) -> str:
    """Return the function in the name of a row: `f` for `f(argument)`; other names unchanged."""
    return name.partition("(")[0]


@functools.cache
def _began() -> dict[str, Release]:
    return {name: r for r in reversed(releases()) for name in r.adds}


def _ended() -> dict[str, Release]:
    return {name: r for r in releases() for name in r.removes}


def _deprecated() -> dict[str, Release]:
    return {name: r for r in reversed(releases()) for name in r.deprecates}


def has_row(name: str) -> bool:
    """Whether the table has a row for exactly this name or argument, not only for its function."""
    return name in _began()


def since(name: str) -> Release:
    """Return the first release with a name, an argument or a module, e.g. `nki.isa.activate2`."""
    began = _began()
    if name in began or function_of(name) in began:
        return began.get(name) or began[function_of(name)]
    inside = [r for row, r in began.items() if row.startswith(f"{name}.")]
    return min(inside, default=releases()[0])


def until(name: str) -> Release | None:
    """Return the last release with a name or an argument; None if it was not removed."""
    removed = removed_in(name)
    return None if removed is None else releases()[releases().index(removed) - 1]


def removed_in(name: str) -> Release | None:
    """Return the release that removed a name or an argument; None if it was not removed."""
    return _ended().get(name) or _ended().get(function_of(name))


def deprecated_in(name: str) -> Release | None:
    """Return the release that deprecated a name or an argument; None if it is not deprecated."""
    return _deprecated().get(name)


def replacement(name: str) -> str | None:
    """Return the replacement of a removed or deprecated name or argument; None if unknown."""
    for row in (name, function_of(name)):
        for table in (_ended(), _deprecated()):
            if row in table:
                advice = table[row].removes.get(row) or table[row].deprecates.get(row)
                if advice:
                    return advice
    return None


def is_held(rule: str, held_by: Release) -> bool:
    """Whether a release's compiler has a rule about a kernel's Python.

    True for a rule that no release introduces or drops.
    """
    begins = [r for r in releases() if rule in r.imposes]
    ends = [r for r in releases() if rule in r.lifts]
    return all(r <= held_by for r in begins) and all(held_by < r for r in ends)


__all__ = [
    "Release",
    "deprecated_in",
    "function_of",
    "has_row",
    "is_held",
    "release",
    "releases",
    "removed_in",
    "replacement",
    "since",
    "until",
]
