"""Statements inside `nki.repeat`: one text that is valid for all iterations.

A statement is written once per sampled iteration. Numbers that differ between these texts must be
affine in the indices of the surrounding loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from nkijit.dialects.nki.affine import Affine
from nkijit.export.merging import Template, affine_source


@dataclass(frozen=True, slots=True)
class _Index:
    name: str
    """The index's name in the IR."""
    source: str
    """The index's name in the Python source."""
    end: Affine


@dataclass
class Iterations:
    """The loops around a statement, and the current iteration."""

    constants: bool = False
    """Whether to write the index `m` as `m + 0`, because another core may have another constant."""
    _around: list[_Index] = field(default_factory=list[_Index])
    _at: dict[str, int] = field(default_factory=dict[str, int])
    _depends: bool = False
    """Whether the text built last contains a number that depends on the iteration."""

    def open(self, name: str, source: str, end: Affine) -> None:
        """Begin a loop.

        Args:
            name: the name of the loop's index in the IR.
            source: the name of the loop's index in Python.
            end: the trip count, which may depend on the indices of the loops around it.
        """
        self._around.append(_Index(name, source, end))
        self._at[name] = 0

    def close(self) -> None:
        """End the innermost loop."""
        del self._at[self._around.pop().name]

    def number(self, number: Affine) -> int:
        """Return the value of an affine number in the current iteration."""
        self._depends |= bool(number.terms)
        return number.at(self._at)

    def numbers(self, numbers: Sequence[Affine]) -> list[int]:
        """Return the values of affine numbers in the current iteration."""
        return [self.number(number) for number in numbers]

    def end(self, number: Affine) -> str:
        """Return a number as a Python expression of the indices of the loops around it."""
        names = {index.name: index.source for index in self._around}
        return affine_source(Affine.of(number.constant, ((names[n], s) for n, s in number.terms)))

    def text(self, build: Callable[[], str]) -> str | None:
        """Return one text for all iterations; None if there is none.

        `build` returns the text of the current iteration, using `number`.
        """
        if not self._around:
            return build()
        first = {index.name: 0 for index in self._around}
        self._depends = False
        base = self._built(build, first)
        if not self._depends:
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
        template = Template.of(base, samples)
        if template is None:
            return None
        for corner in self._corners(first, last):
            sources = {index.source: corner[index.name] for index in self._around}
            if template.at(sources) != self._built(build, corner):
                return None
        return template.source(constants=self.constants)

    def _built(self, build: Callable[[], str], at: dict[str, int]) -> str:
        before, self._at = self._at, at
        try:
            return build()
        finally:
            self._at = before

    def _exists(self, at: dict[str, int]) -> bool:
        return all(0 <= at[index.name] < index.end.at(at) for index in self._around)

    def _last(self) -> dict[str, int]:
        """Return the index of each loop in the last iteration, by the index's name."""
        at: dict[str, int] = {}
        for index in self._around:
            at[index.name] = max(0, index.end.at(at) - 1)
        return at

    def _corners(self, first: dict[str, int], last: dict[str, int]) -> Iterator[dict[str, int]]:
        """Yield the iterations with the smallest and largest indices."""
        yield last
        for index in self._around:
            for corner in ({**first, index.name: last[index.name]}, {**last, index.name: 0}):
                if self._exists(corner):
                    yield corner
