"""Random small kernels that are valid; a mutant is such a kernel with one mistake.

A kernel is a list of parts. A part is a few statements that belong together: a load, computations
on it, and a store. Statements are one line of text each, so findings can be compared with the
statement that they are about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

import nkijit as nki
import nkijit.collectives as ncc
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.kernels.arguments import TensorSpec
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.traced.kernel import TracedKernel

FILE = "<random kernel>"
TARGETS = ("trn1", "trn2", "trn3")
FLOATS = ("float32", "bfloat16", "float16")


@dataclass(eq=False)
class Line:
    """A statement: a call whose arguments can be changed one by one, or any text."""

    key: str
    """Its role in its part."""
    part: int
    text: str = ""
    result: str = ""
    function: str = ""
    args: dict[str, str] = field(default_factory=dict[str, str])
    depth: int = 0
    suffix: str = ""
    """The method that is called on the result."""
    original: Line | None = None
    """The line of the kernel that this one is a copy of."""

    def __str__(self) -> str:
        if not self.function:
            return "    " * self.depth + self.text
        given = ", ".join(f"{name}={value}" for name, value in self.args.items())
        result = f"{self.result} = " if self.result else ""
        return f"{'    ' * self.depth}{result}{self.function}({given}){self.suffix}"

    def copy(self) -> Line:
        """The same statement, to be changed."""
        return Line(
            self.key, self.part, self.text, self.result, self.function, dict(self.args),
            self.depth, self.suffix, self,
        )  # fmt: skip


@dataclass
class RandomKernel:
    """A kernel as statements."""

    target: str
    cores: int
    arguments: list[tuple[str, TensorSpec]] = field(default_factory=list[tuple[str, TensorSpec]])
    lines: list[Line] = field(default_factory=list[Line])
    names: dict[int, str] = field(default_factory=dict[int, str])
    """The kind of each part."""

    def copy(self) -> RandomKernel:
        """The same kernel, to be changed."""
        return RandomKernel(
            self.target,
            self.cores,
            self.arguments,
            [line.copy() for line in self.lines],
            self.names,
        )

    def source(self) -> str:
        """The kernel as an author writes it; its first statement is in line 2."""
        head = f"def kernel({', '.join(name for name, _ in self.arguments)}):"
        return "\n".join([head, *(f"    {line}" for line in self.lines), ""])

    def trace(self) -> TracedKernel:
        """The kernel, traced."""
        space: dict[str, object] = {"nki": nki, "nisa": nisa, "nl": nl, "ncc": ncc, "np": np}
        exec(compile(self.source(), FILE, "exec"), space)
        kernel = nki.jit(space["kernel"], platform_target=self.target)
        if self.cores == 2:
            kernel = kernel[2]
        return kernel.trace(*(spec for _, spec in self.arguments))

    def findings(self) -> list[tuple[Diagnostic, set[Line]]]:
        """Return the findings of verification, with the statements that each finding shows."""
        try:
            found = self.trace().diagnostics
        except NkiValidationError as error:
            found = error.diagnostics
        return [(diagnostic, self._lines_of(diagnostic)) for diagnostic in found]

    def _lines_of(self, diagnostic: Diagnostic) -> set[Line]:
        shown = [*diagnostic.where, *(position for position, _ in diagnostic.related)]
        shown += [o.allocated for o in diagnostic.operands if o.allocated is not None]
        return {self.lines[p.line - 2] for p in shown if p.file == FILE and p.line >= 2}

    # -------------------------------------------------------------- queries of mutations

    def part(self, name: str, random: Random) -> Part:
        """One of the parts of a kind."""
        number = random.choice([number for number, known in self.names.items() if known == name])
        return Part(self, number)


@dataclass
class Part:
    """The statements of one part of a kernel."""

    kernel: RandomKernel
    number: int

    def all(self, key: str) -> list[Line]:
        """The statements with a role."""
        return [x for x in self.kernel.lines if x.part == self.number and x.key == key]

    def __getitem__(self, key: str) -> Line:
        return self.all(key)[0]

    def __contains__(self, key: str) -> bool:
        return bool(self.all(key))

    def drop(self, line: Line) -> None:
        """Leave a statement out."""
        self.kernel.lines.remove(line)

    def insert(self, line: Line, *, before: Line | None = None, after: Line | None = None) -> Line:
        """Add a statement."""
        lines = self.kernel.lines
        beside = before or after
        assert beside is not None
        line.depth = beside.depth
        lines.insert(lines.index(beside) + (after is not None), line)
        return line

    def call(self, function: str, **args: str) -> Line:
        """A new statement, to be inserted."""
        return Line("inserted", self.number, function=function, args=args)


class Builder:
    """Makes a kernel, part by part."""

    def __init__(self, random: Random, target: str, cores: int = 1):
        self.random = random
        self.kernel = RandomKernel(target, cores)
        self.generation = TARGETS.index(target) + 2
        self.depth = 0
        self._number = 0
        self._part = 0
        self._results: list[str] = []

    def add(self, name: str) -> None:
        """Append a part."""
        self._part += 1
        self.kernel.names[self._part] = name
        PARTS[name].build(self)

    def finish(self) -> RandomKernel:
        """Return the results of all parts."""
        self._part = 0
        self.text("return", f"return {', '.join(self._results)}")
        return self.kernel

    # -------------------------------------------------------------- statements

    def name(self, stem: str) -> str:
        """A name that nothing has."""
        self._number += 1
        return f"{stem}{self._number}"

    def text(self, key: str, text: str) -> None:
        """A statement that is no call."""
        self.kernel.lines.append(Line(key, self._part, text, depth=self.depth))

    def call(self, key: str, function: str, /, result: str = "", **args: object) -> None:
        """A call; arguments are given as text."""
        given = {name: str(value) for name, value in args.items()}
        self.kernel.lines.append(Line(key, self._part, "", result, function, given, self.depth))

    def argument(self, shape: Sequence[int], dtype: str) -> str:
        """An argument of the kernel."""
        name = self.name("x")
        self.kernel.arguments.append((name, TensorSpec(shape, dtype)))
        return name

    def alloc(
        self, key: str, shape: Sequence[int], dtype: str, buffer: str = "sbuf", **more: object
    ) -> str:
        """An allocation."""
        name = self.name("t")
        self.call(
            key, "nl.ndarray", name,
            shape=tuple(shape), dtype=f"nl.{dtype}", buffer=f"nl.{buffer}", **more,
        )  # fmt: skip
        return name

    def load(self, shape: Sequence[int], dtype: str, key: str = "load") -> str:
        """A tile with data of an argument."""
        argument = self.argument(shape, dtype)
        tile = self.alloc(f"{key}.alloc", shape, dtype)
        self.call(key, "nisa.dma_copy", dst=tile, src=argument)
        return tile

    def output(self, shape: Sequence[int], dtype: str) -> str:
        """A tensor that the kernel returns."""
        name = self.alloc("output", shape, dtype, "shared_hbm")
        self._results.append(name)
        return name

    def store(self, tile: str, shape: Sequence[int], dtype: str) -> None:
        """Return a tile."""
        self.call("store", "nisa.dma_copy", dst=self.output(shape, dtype), src=tile)

    # -------------------------------------------------------------- choices

    def shape(self, partitions: Sequence[int] = (128, 96, 64, 32)) -> tuple[int, int]:
        """The shape of a tile."""
        return self.random.choice(partitions), self.random.choice((64, 128, 192, 256, 512))

    def floats(self) -> str:
        """A data type that engines compute on."""
        return self.random.choice(FLOATS)

    def op(self, *words: str) -> str:
        """One of these operators."""
        return "nl." + self.random.choice(words)


@dataclass(frozen=True)
class Kind:
    """A kind of part."""

    build: Callable[[Builder], None]
    since: int = 2
    """The first generation that has it."""
    cores: int = 1
    accumulates: bool = False
    """It leaves something in the accumulators of an engine."""


PARTS: dict[str, Kind] = {}


def part(
    since: int = 2, cores: int = 1, *, accumulates: bool = False
) -> Callable[[Callable[[Builder], None]], None]:
    """Declare a kind of part."""

    def declare(build: Callable[[Builder], None]) -> None:
        PARTS[build.__name__.strip("_")] = Kind(build, since, cores, accumulates)

    return declare
