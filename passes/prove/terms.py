"""The term of an element of a result: how it is computed, in the names of the kernel's author."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import info_of
from nkijit.passes.diagnostics.places import Position, positions
from nkijit.passes.diagnostics.shown import ShownAsText
from nkijit.passes.prove.algebra import Level
from nkijit.passes.prove.digests import LANES, Words, words
from nkijit.passes.prove.loops import Trips
from nkijit.passes.prove.recording import Call, Recorder, Shape
from nkijit.passes.prove.run import Digests, argument, digests, result_names

_INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "power": "**",
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
_FUNCTIONS = {"maximum": "max", "minimum": "min"}
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_ELEMENT = re.compile(r"\w+\[[\d, ]*\]")
_LETTERS = "kjinmuvw"
DEEPEST = 12
"""The depth from which on a term is shown as `…`."""
LONGEST = 400
"""The number of characters from which on operands are shown as `…`."""


@dataclass(frozen=True, slots=True)
class Node:
    """A digest in a recording, with the constructor that made it."""

    word: np.uint64
    number: int
    """The number of the call; -1 for an input, a constant, or an unknown digest."""
    index: int = 0


@dataclass(frozen=True, slots=True)
class Term(ShownAsText):
    """An element of a result as an expression of the kernel's inputs."""

    element: str
    text: str
    place: Position | None
    """The line of the last instruction that computes the element; None if unknown."""
    inputs: Mapping[str, int]
    """The number of elements of each input that the element depends on, by name."""

    def __str__(self) -> str:
        at = "" if self.place is None else f"  at {self.place.line_text}"
        counts = [f"{numbered(n, 'element')} of {name}" for name, n in self.inputs.items()]
        return f"{self.element}: {self.text}{at}\n  depends on {', '.join(counts) or 'no input'}"


class Terms:
    """The terms of the results of one kernel."""

    def __init__(
        self,
        kernels: Sequence[KernelOp],
        level: Level = Level.bits,
        run: str = "old",
        trips: int | None = None,
    ):
        """Run a kernel on digests, and record the constructors; arguments as for `digests`."""
        self._kernel = kernels[0]
        self.recorder = Recorder(level)
        self.results: Digests = digests(kernels, self.recorder, run, self.recorder, Trips(trips))

    # ---------------------------------------------------------------- names

    @cached_property
    def _inputs(self) -> list[tuple[str, tuple[int, ...], Words]]:
        """The name, shape and first words of each argument, of all ranks."""
        found: list[tuple[str, tuple[int, ...], Words]] = []
        ranks = max(1, len(self.results.returned) // max(1, len(self._kernel.return_op.values)))
        for rank in range(ranks):
            for number, value in enumerate(self._kernel.arguments):
                first = words(argument(value, rank, number))[::LANES]
                name = (value.name_hint or f"argument{number}") + (f"@{rank}" if rank else "")
                found.append((name, info_of(value).shape, first))
        return found

    def names(self) -> list[str]:
        """Return the names of the results, in order."""
        named = result_names(self._kernel)
        writes = [number for rank, number in self.results.written if rank == 0]
        hints = [(number, self._kernel.arguments[number].name_hint) for number in writes]
        return named + [hint or f"argument {number}" for number, hint in hints]

    def node(self, name: str, index: Sequence[int], rank: int = 0) -> Node:
        """Return the node of an element of a result. Raises KeyError or IndexError for others."""
        names = self.names()
        if name not in names:
            raise KeyError(f"there is no result '{name}'; there are {', '.join(names)}")
        number, count = names.index(name), len(self._kernel.return_op.values)
        if number < count:
            cells = self.results.returned[rank * count + number]
        else:
            keys = [key for key in self.results.written if key[0] == rank]
            key = keys[number - count]
            cells = self.results.written[key].reshape(info_of(self._kernel.arguments[key[1]]).shape)
        if len(index) != cells.ndim or not all(
            0 <= i < n for i, n in zip(index, cells.shape, strict=False)
        ):
            raise IndexError(f"{name} has the shape {cells.shape}")
        return self.found(words(cells[tuple(index)])[0])

    def term(self, name: str, index: Sequence[int]) -> Term:
        """Return the term of an element of a result. Raises KeyError or IndexError for others."""
        node = self.node(name, index)
        element = f"{name}[{', '.join(map(str, index))}]"
        return Term(element, self.text(node), self.place(node), self.inputs(node))

    def found(self, word: np.uint64, before: int | None = None) -> Node:
        """Return the node of a digest that was made before call number `before`."""
        made = None if self._leaf(word) is not None else self.recorder.maker(word, before)
        return Node(word, -1) if made is None else Node(word, *made)

    def _leaf(self, word: np.uint64) -> str | None:
        """Return the text of an input or of a constant; None for other digests."""
        value = self.recorder.constant(word)
        if value is not None:
            return f"{value:g}"
        for name, shape, first in self._inputs:
            at = np.flatnonzero(first == word)
            if len(at):
                place = cast(tuple[Any, ...], np.unravel_index(at[0], shape))
                return f"{name}[{', '.join(map(str, place))}]"
        return None

    # ---------------------------------------------------------------- structure

    def call(self, node: Node) -> Call | None:
        """Return the constructor of a node; None for leaves."""
        return None if node.number < 0 else self.recorder.calls[node.number]

    def operands(self, node: Node) -> list[Words]:
        """Return the digests of a node's operands; empty for leaves."""
        call = self.call(node)
        return [] if call is None else call.at(node.index)

    def child(self, node: Node, word: np.uint64) -> Node:
        """Return the node of one of a node's operands."""
        return self.found(word, node.number)

    def label(self, node: Node) -> str:
        """Return the name of a node's constructor as text."""
        call = self.call(node)
        if call is None:
            return ""
        if call.shape is Shape.product:
            return "a matrix product"
        if call.name[0] == "round":
            return str(call.name[1])
        word = _word(call.name)
        return _REDUCTIONS.get(word, word) if call.shape is Shape.rows else word

    def place(self, node: Node) -> Position | None:
        """Return the line of the instruction that computes a node; None if unknown."""
        call = self.call(node)
        chain = [] if call is None or call.op is None else positions(call.op.location)
        return chain[0] if chain else None

    # ---------------------------------------------------------------- text

    def text(self, node: Node, depth: int = 0) -> str:
        """Return a term as an expression; deep parts are shown as `…`."""
        leaf = self._leaf(node.word)
        if leaf is not None:
            return leaf
        call = self.call(node)
        if call is None:
            return "undefined" if self.recorder.is_complete else "…"
        if depth >= DEEPEST:
            return "…"
        groups = self.operands(node)
        if call.shape is Shape.product:
            pairs = list(zip(*groups, strict=True))
            return self._sum(node, "sum", pairs, depth)
        if call.shape is Shape.elements:
            return self._element(node, call.name, [group[0] for group in groups], depth)
        if isinstance(call.name, str) and call.shape is Shape.rows:
            word = _REDUCTIONS.get(call.name, call.name)
            *starts, row = groups
            text = self._sum(node, word, [(each,) for each in row], depth)
            if starts:
                first = self.text(self.child(node, starts[0][0]), depth + 1)
                return _joined(call.name, first, text)
            return text
        parts = [self._sum(node, "", [(each,) for each in group], depth) for group in groups]
        return f"{_word(call.name)}({', '.join(parts)})"

    def _element(self, node: Node, name: Any, operands: Sequence[np.uint64], depth: int) -> str:
        parts = [self.text(self.child(node, each), depth + 1) for each in operands]
        if sum(map(len, parts)) > LONGEST:
            parts = ["…" if len(part) > LONGEST // len(parts) else part for part in parts]
        if name[0] == "round":
            return f"{name[1]}({parts[0]})"
        if name[0] == "float32":
            return parts[0]
        if name[0] == "divide":
            return f"{_wrapped(parts[0])} / {name[1]}"
        if name == "negate":
            return f"-{_wrapped(parts[0])}"
        if len(parts) == 2 and isinstance(name, str):
            return _joined(name, *parts)
        return f"{_word(name)}({', '.join(parts)})"

    def _sum(
        self, node: Node, word: str, terms: Sequence[tuple[np.uint64, ...]], depth: int
    ) -> str:
        """Return the text of a function of many terms; terms of one form are shown once."""

        def shown(term: tuple[np.uint64, ...]) -> str:
            parts = [self.text(self.child(node, each), depth + 1) for each in term]
            return parts[0] if len(parts) == 1 else " * ".join(map(_wrapped, parts))

        count = len(terms)
        if count <= 3:
            return f"{word}({', '.join(map(shown, terms))})"
        first, second, last = shown(terms[0]), shown(terms[1]), shown(terms[-1])
        return f"{word}({_series(first, second, last, count)})"

    # ---------------------------------------------------------------- dependences

    def inputs(self, node: Node) -> Mapping[str, int]:
        """Return the number of elements of each input that a term depends on, by name."""
        wanted = np.array([node.word], np.uint64)
        for number, call in self.recorder.makers():
            if node.number >= 0 and number > node.number:
                continue
            mask = np.isin(call.result, wanted)
            if mask.any():
                wanted = np.union1d(wanted, call.all_at(mask))
        found: dict[str, int] = {}
        for name, _, first in self._inputs:
            count = int(np.isin(first, wanted).sum())
            if count:
                found[name] = count
        return found


def _word(name: Any) -> str:
    """Return the name of a constructor as text; the name of a tuple is its first entry."""
    if not isinstance(name, str):
        return _word(name[0])
    return _FUNCTIONS.get(name, name.rpartition(".")[2])


def _joined(word: str, left: str, right: str) -> str:
    sign = _INFIX.get(word)
    if sign is None:
        return f"{_word(word)}({left}, {right})"
    return f"{_wrapped(left)} {sign} {_wrapped(right)}"


def _wrapped(text: str) -> str:
    """Return an operand, in parentheses if it is a sum or product itself."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == " " and depth == 0 and at:
            return f"({text})"
    return text


def _series(first: str, second: str, last: str, count: int) -> str:
    """Return the text of terms in which numbers run with the term; else the first and the last."""
    texts = [_NUMBER.findall(text) for text in (first, second, last)]
    shapes = {_NUMBER.sub("#", text) for text in (first, second, last)}
    if len(shapes) > 1:
        return f"{first}, {second}, …, {last}; {numbered(count, 'term')}"
    numbers = [tuple(map(int, each)) for each in zip(*texts, strict=True)]
    runs: list[tuple[int, int]] = []
    for one, two, end in numbers:
        if end - one != (two - one) * (count - 1):
            return f"{first}, {second}, …, {last}; {numbered(count, 'term')}"
        runs.append((one, two - one))
    if not any(step for _, step in runs):
        return f"{first}; {numbered(count, 'time')}"
    letter = next(each for each in _LETTERS if f" {each} in " not in first)
    whole = _ELEMENT.fullmatch(first) is not None and [step for _, step in runs if step] == [1]
    parts = iter(runs)

    def number(match: re.Match[str]) -> str:
        start, step = next(parts)
        if step == 0:
            return match.group()
        if whole:
            return f"{start}:{start + count}"
        shown = letter if step == 1 else f"{step}*{letter}"
        return shown if start == 0 else f"{shown}+{start}"

    text = _NUMBER.sub(number, first)
    return text if whole else f"{text} for {letter} in 0:{count}"
