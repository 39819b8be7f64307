"""What is known to be written, against sets of bytes; cells of tensors, against sets of bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest

from nkijit.dialects.nki import kernels_of
from nkijit.passes.analysis.footprints import Cells, Extent
from nkijit.passes.analysis.written import Read, Verdict, reads_of
from nkijit.traced import parse

SIZES = {"i8": 1, "bf16": 2, "f32": 4}


@dataclass(frozen=True)
class View:
    """A tile: elements of a data type at an offset, with a stride and a count per dimension."""

    base: int
    dtype: str
    offset: int
    pairs: tuple[tuple[int, int], ...]

    def elements(self) -> Iterator[frozenset[int]]:
        """The bytes of every element, in row-major order."""
        size = SIZES[self.dtype]
        for index in product(*(range(count) for _, count in self.pairs)):
            steps = zip(index, self.pairs, strict=True)
            start = self.offset + sum(i * stride for i, (stride, _) in steps)
            yield frozenset(range(start * size, (start + 1) * size))

    @property
    def bytes(self) -> set[int]:
        return set().union(*self.elements())

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(count for _, count in self.pairs)


@dataclass
class Program:
    """A kernel as text: allocations, views of them, and calls that read and write views."""

    shapes: list[tuple[tuple[int, ...], str]]
    names: dict[View, str] = field(default_factory=dict[View, str])
    body: list[str] = field(default_factory=list[str])

    def whole(self, base: int) -> View:
        shape, dtype = self.shapes[base]
        pairs: list[tuple[int, int]] = []
        stride = 1
        for count in reversed(shape):
            pairs.insert(0, (stride, count))
            stride *= count
        return View(base, dtype, 0, tuple(pairs))

    def name(self, view: View) -> str:
        if view == self.whole(view.base):
            return f"%t{view.base}"
        return self.names.setdefault(view, f"%v{len(self.names)}")

    def copy(self, dst: View, src: View) -> None:
        self.body.append(f"nisa.dma_copy dst={self.name(dst)}, src={self.name(src)}")

    def text(self) -> str:
        lines = [
            f"%t{i} = nki.alloc : memref<{'x'.join(map(str, shape))}x{dtype}, #nki.private_hbm>"
            for i, (shape, dtype) in enumerate(self.shapes)
        ]
        for view, name in self.names.items():
            pattern = [list(pair) for pair in view.pairs]
            other = "" if view.dtype == self.shapes[view.base][1] else f" as {view.dtype}"
            lines.append(
                f"{name} = nki.view %t{view.base} offset={view.offset} pattern={pattern}{other}"
            )
        return "\n".join(["nki.kernel @k() target=trn3 {", *lines, *self.body, "nki.return", "}"])

    def reads(self) -> list[Read]:
        return list(reads_of(list(kernels_of(parse(self.text()))), known=True))


def _random_view(draw: random.Random, whole: View) -> View:
    """What slices, steps, reversals, permutations, broadcasts and data types make of a tensor."""
    offset, pairs, dtype = whole.offset, list(whole.pairs), whole.dtype
    if draw.random() < 0.4:
        other = draw.choice([name for name in SIZES if name != dtype])
        old, new = SIZES[dtype], SIZES[other]
        if pairs[-1][1] * old % new == 0 and all(s * old % new == 0 for s, _ in pairs[:-1]):
            *outer, (_, count) = pairs
            pairs = [*((s * old // new, n) for s, n in outer), (1, count * old // new)]
            dtype = other
    if draw.random() < 0.3:
        at = draw.randrange(len(pairs))
        stride, count = pairs[at]
        factor = draw.choice([f for f in range(1, count + 1) if count % f == 0])
        pairs[at : at + 1] = [(stride * factor, count // factor), (stride, factor)]
    for at, (stride, count) in enumerate(pairs):
        if draw.random() < 0.6:
            first = draw.randrange(count)
            step = draw.choice([1, 1, 1, 2, 3])
            count = len(range(first, draw.randint(first + 1, count), step))
            offset += first * stride
            stride *= step
        if draw.random() < 0.15:
            offset += stride * (count - 1)
            stride = -stride
        pairs[at] = (stride, count)
    if draw.random() < 0.3:
        draw.shuffle(pairs)
    if draw.random() < 0.1:
        pairs.insert(draw.randrange(len(pairs) + 1), (0, draw.randint(1, 3)))
    return View(whole.base, dtype, offset, tuple(pairs))


def _random_program(draw: random.Random) -> tuple[Program, list[tuple[View, View]]]:
    shapes = [
        (
            tuple(draw.randint(1, 8) for _ in range(draw.randint(1, 3))),
            draw.choice(list(SIZES)),
        )
        for _ in range(draw.randint(1, 4))
    ]
    program = Program(shapes)
    pool: list[View] = []
    for base in range(len(shapes)):
        whole = program.whole(base)
        pool += [whole, *(_random_view(draw, whole) for _ in range(draw.randint(1, 6)))]
    calls = [(draw.choice(pool), draw.choice(pool)) for _ in range(draw.randint(1, 25))]
    for dst, src in calls:
        program.copy(dst, src)
    return program, calls


def _expected(calls: list[tuple[View, View]]) -> Iterator[tuple[bool, list[bool]]]:
    """For every source: is it written, or has it been told; and which elements are not."""
    written: dict[int, set[int]] = {}
    told: set[View] = set()
    for dst, src in calls:
        there = written.setdefault(src.base, set())
        missing = [not part <= there for part in src.elements()]
        yield src in told or not any(missing), missing
        if any(missing):
            told.add(src)
        written.setdefault(dst.base, set()).update(dst.bytes)


@pytest.mark.parametrize("seed", range(400))
def test_straight_programs(seed: int) -> None:
    program, calls = _random_program(random.Random(seed))
    reads = program.reads()
    assert len(reads) == len(calls)
    for number, (read, (written, missing)) in enumerate(zip(reads, _expected(calls), strict=True)):
        assert read.verdict is (Verdict.written if written else Verdict.unwritten), number
        if not written:
            assert read.missing is not None
            assert read.missing.shape == calls[number][1].shape
            assert read.missing.ravel().tolist() == missing
