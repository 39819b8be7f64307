"""Statements inside of `nki.repeat`: one text for what each iteration says.

A statement is written for some iterations, and what differs between these is affine in the indices
of the loops around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from nkijit.dialects.nki.affine import Affine
from nkijit.export.merging import Template, affine_source


@dataclass(frozen=True, slots=True)
class _Index:
    name: str
    """In the IR."""
    source: str
    """In Python."""
    end: Affine


@dataclass
class Iterations:
    """The loops around a statement, and the iteration that is being written."""

    constants: bool = False
    """What is added to indices is said also where it is 0: on another core it may be another."""
    _around: list[_Index] = field(default_factory=list[_Index])
    _at: dict[str, int] = field(default_factory=dict[str, int])
    _asked: bool = False
    """Whether anything was asked that depends on the iteration."""

    def open(self, name: str, source: str, end: Affine) -> None:
        """Begin a loop.

        Args:
            name: its index in the IR.
            source: its index in Python.
            end: how often it runs, which may depend on the loops around.
        """
        self._around.append(_Index(name, source, end))
        self._at[name] = 0

    def close(self) -> None:
        """End the innermost loop."""
        del self._at[self._around.pop().name]

    def number(self, number: Affine) -> int:
        """A number in the iteration that is being written."""
        self._asked |= bool(number.terms)
        return number.at(self._at)

    def numbers(self, numbers: Sequence[Affine]) -> list[int]:
        """The same for several numbers."""
        return [self.number(number) for number in numbers]

    def end(self, number: Affine) -> str:
        """The expression of a number that depends on the loops around."""
        names = {index.name: index.source for index in self._around}
        return affine_source(Affine.of(number.constant, ((names[n], s) for n, s in number.terms)))

    def text(self, build: Callable[[], str]) -> str | None:
        """What `build` says of every iteration; None where that is no one text.

        `build` gives the text for one iteration, of which `number` tells.
        """
        if not self._around:
            return build()
        first = {index.name: 0 for index in self._around}
        self._asked = False
        base = self._built(build, first)
        if not self._asked:
            return base
        samples: dict[str, tuple[str, str]] = {}
        last = self._last()
        for index in self._around:
            for start in (first, {**last, index.name: 0}):
                following = {**start, index.name: 1}
                if self._exists(start) and self._exists(following):
                    before = base if start is first else self._built(build, start)
                    samples[index.source] = before, self._built(build, following)
                    break
        made = Template.of(base, samples)
        if made is None:
            return None
        for corner in self._corners(first, last):
            sources = {index.source: corner[index.name] for index in self._around}
            if made.at(sources) != self._built(build, corner):
                return None
        return made.source(constants=self.constants)

    def _built(self, build: Callable[[], str], at: dict[str, int]) -> str:
        kept, self._at = self._at, at
        try:
            return build()
        finally:
            self._at = kept

    def _exists(self, at: dict[str, int]) -> bool:
        return all(0 <= at[index.name] < index.end.at(at) for index in self._around)

    def _last(self) -> dict[str, int]:
        """The last iteration of all."""
        at: dict[str, int] = {}
        for index in self._around:
            at[index.name] = max(0, index.end.at(at) - 1)
        return at

    def _corners(self, first: dict[str, int], last: dict[str, int]) -> Iterator[dict[str, int]]:
        """Iterations in which numbers are the least and the greatest."""
        yield last
        for index in self._around:
            for corner in ({**first, index.name: last[index.name]}, {**last, index.name: 0}):
                if self._exists(corner):
                    yield corner
