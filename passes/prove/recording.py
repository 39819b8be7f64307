"""Recordings of constructors: which call has made a digest, from which operands.

A recording has the first word of each digest, which identifies the digest for the purpose of
showing terms. Copies make no digests, so they do not occur in terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from xdsl.ir import Operation

from nkijit.dialects.dtypes import DType
from nkijit.passes.interpret.records.environment import Env
from nkijit.passes.prove.algebra import Algebra, Level
from nkijit.passes.prove.digests import LANES, Cells, Words, words

BUDGET = 1 << 30
"""The largest number of bytes of a recording; later constructors are not recorded."""


class Shape(Enum):
    """The elements of the operands that an element of a result depends on."""

    elements = "elements"
    rows = "rows"
    """The rows of all operands."""
    prefixes = "prefixes"
    """The rows of all operands, up to the same place."""
    tiles = "tiles"
    product = "product"
    """A column of each of the two operands."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a constructor."""

    shape: Shape
    name: Any
    op: Operation | None
    """The instruction; None for constants of the kernel."""
    result: Words
    operands: Sequence[Words]

    def at(self, index: int) -> list[Words]:
        """Return the operands of the element with a flat index: words for each operand."""
        if self.shape is Shape.tiles:
            return [operand.reshape(-1) for operand in self.operands]
        if self.shape is Shape.product:
            row, column = np.unravel_index(index, self.result.shape)
            left, right = self.operands
            return [left[:, row], right[:, column]]
        if self.shape is Shape.elements:
            place = np.unravel_index(index, self.result.shape)
            return [
                np.broadcast_to(operand, self.result.shape)[place].reshape(1)
                for operand in self.operands
            ]
        rows = self.result.shape[0]
        row, place = divmod(index, self.result.size // rows)
        end = None if self.shape is Shape.rows else place + 1
        return [
            operand.reshape(len(operand), -1)[row if len(operand) == rows else 0, :end]
            for operand in (np.atleast_1d(each) for each in self.operands)
        ]

    def all_at(self, mask: Any) -> Words:
        """Return the operands of all elements of a mask, in any order."""
        if self.shape is Shape.elements:
            found = [np.broadcast_to(each, self.result.shape)[mask] for each in self.operands]
        elif self.shape is Shape.tiles:
            found = [each.reshape(-1) for each in self.operands]
        elif self.shape is Shape.product:
            left, right = self.operands
            found = [left[:, mask.any(1)].reshape(-1), right[:, mask.any(0)].reshape(-1)]
        else:
            rows = mask.reshape(len(mask), -1).any(1)
            found = [
                (each[rows] if len(each) == len(rows) else each).reshape(-1)
                for each in (np.atleast_1d(operand) for operand in self.operands)
            ]
        return np.concatenate([each.reshape(-1) for each in found])


class Recorder(Algebra):
    """An algebra that records its calls; also the observer of the run that it records."""

    def __init__(self, level: Level, budget: int = BUDGET):
        super().__init__(level)
        self.calls: list[Call] = []
        self.constants: list[tuple[Words, Any]] = []
        """The first words of constants, with their values."""
        self.is_complete = True
        """False if the budget did not suffice."""
        self._budget = budget
        self._op: Operation | None = None

    def before(self, op: Operation, env: Env) -> None:
        """Note the instruction that calls constructors from here on."""
        self._op = op

    def after(self, op: Operation, env: Env) -> None:
        """Do nothing: the methods of an observer are called before and after operations."""

    def _note(self, shape: Shape, name: Any, result: Cells, *operands: Cells) -> Cells:
        kept = [_first(each) for each in (result, *operands)]
        self._budget -= sum(each.nbytes for each in kept)
        if self._budget < 0:
            self.is_complete = False
        else:
            self.calls.append(Call(shape, name, self._op, kept[0], kept[1:]))
        return result

    def number(self, values: Any) -> Cells:
        result = super().number(values)
        self.constants.append((_first(result).reshape(-1), np.asarray(values).reshape(-1)))
        return result

    def recast(self, x: Cells, dtype: DType, into: DType) -> Cells:
        result = super().recast(x, dtype, into)
        name = f"bits of {dtype.name} as {into.name}"
        return result if dtype is into else self._note(Shape.elements, name, result, x)

    def unary(self, word: object, x: Cells) -> Cells:
        result = super().unary(word, x)
        named = word not in ("copy", "square")
        return self._note(Shape.elements, word, result, x) if named else result

    def binary(self, word: str, x: Cells, y: Cells, shape: tuple[int, ...]) -> Cells:
        return self._note(Shape.elements, word, super().binary(word, x, y, shape), x, y)

    def bits(self, word: str, kinds: tuple[str, ...], *operands: Cells) -> Cells:
        return self._note(Shape.elements, word, super().bits(word, kinds, *operands), *operands)

    def reduce(self, word: str, x: Cells) -> Cells:
        return self._note(Shape.rows, word, super().reduce(word, x), x)

    def fold(self, word: str, start: Cells, x: Cells) -> Cells:
        return self._note(Shape.rows, word, super().fold(word, start, x), start, x)

    def running(self, word: str, x: Cells, start: Cells) -> Cells:
        result = super().running(word, x, start)
        return self._note(Shape.prefixes, word, result, start.reshape(-1, 1), x)

    def scan(self, name: object, start: Cells, *rows: Cells) -> Cells:
        result = super().scan(name, start, *rows)
        return self._note(Shape.prefixes, name, result, start.reshape(-1, 1), *rows)

    def elements(self, name: object, *operands: Cells) -> Cells:
        return self._note(Shape.elements, name, super().elements(name, *operands), *operands)

    def by_column(self, name: object, shape: tuple[int, ...], *operands: Cells) -> Cells:
        result = super().by_column(name, shape, *operands)
        flat = result.reshape(shape[0], -1)
        kept = [each.reshape(flat.shape) if each.shape == shape else each for each in operands]
        self._note(Shape.elements, name, flat, *kept)
        return result

    def of_rows(self, name: object, shape: tuple[int, int], *operands: Cells) -> Cells:
        return self._note(Shape.rows, name, super().of_rows(name, shape, *operands), *operands)

    def of_tiles(self, name: object, shape: tuple[int, ...], *operands: Cells) -> Cells:
        return self._note(Shape.tiles, name, super().of_tiles(name, shape, *operands), *operands)

    def product(self, stationary: Cells, moving: Cells) -> Cells:
        result = super().product(stationary, moving)
        return self._note(Shape.product, "product", result, stationary, moving)

    def maker(self, word: np.uint64, before: int | None = None) -> tuple[int, int] | None:
        """Return the last call before number `before` that made a digest, and the flat index."""
        for number in range((len(self.calls) if before is None else before) - 1, -1, -1):
            flat = self.calls[number].result.reshape(-1)
            found = flat == word
            at = int(found.argmax()) if flat.size else 0
            if flat.size and found[at]:
                return number, at
        return None

    def constant(self, word: np.uint64) -> float | None:
        """Return the value of a digest that is a constant, else None."""
        for first, values in self.constants:
            found = np.flatnonzero(first == word)
            if len(found):
                return float(values[found[0]])
        return None

    def makers(self) -> Iterator[tuple[int, Call]]:
        """Yield all calls, the last first, with their numbers."""
        for number in range(len(self.calls) - 1, -1, -1):
            yield number, self.calls[number]


def _first(cells: Cells) -> Words:
    """Return a copy of the first words of digests."""
    return words(cells)[::LANES].reshape(cells.shape).copy()
