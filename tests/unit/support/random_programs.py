"""Random programs with loops on the device, and all their possible runs.

A program is a list of nodes: a number is an instruction, a `Loop` a loop. `outcomes` runs it by
brute force in every way that is possible by the kernel's text, with one state per way and without
joins.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

MOST = 3
"""Iterations of a loop whose count only the device knows, at most."""


@dataclass
class Loop:
    """A loop on the device."""

    count: int
    """How often it runs."""
    known: bool
    """The kernel's text contains the count."""
    body: list[int | Loop] = field(default_factory=list)


Program = list["int | Loop"]
S = TypeVar("S", bound=Hashable)


def random_program(random: Random, length: int) -> tuple[Program, int]:
    """A program, and how many instructions it has."""
    count = 0

    def block(size: int, depth: int, loops: int) -> Program:
        nonlocal count
        nodes: Program = []
        for _ in range(random.randint(1, size)):
            if depth < 2 and loops and random.random() < 0.3:
                known = random.random() < 0.4
                loop = Loop(random.randint(0, MOST), known)
                loop.body = block(3, depth + 1, loops - 1)
                nodes.append(loop)
            else:
                nodes.append(count)
                count += 1
        return nodes

    return block(length, 0, 2), count


def outcomes(
    program: Sequence[int | Loop],
    start: set[S],
    step: Callable[[int, S], S],
    fewest: int = 0,
) -> set[S]:
    """The states at the end; loops of unknown counts run `fewest` to MOST times."""
    states = start
    for node in program:
        if isinstance(node, int):
            states = {step(node, state) for state in states}
            continue
        counts = [node.count] if node.known else range(fewest, MOST + 1)
        reached, after = states, set[S]()
        for done in range(max(counts) + 1):
            if done in counts:
                after |= reached
            reached = outcomes(node.body, reached, step, fewest)
        states = after
    return states


def lines_of(program: Sequence[int | Loop], line: Callable[[int], str]) -> Iterator[str]:
    """The program as IR; `line` gives the text of an instruction."""
    names = iter(range(1000))

    def block(nodes: Sequence[int | Loop]) -> Iterator[str]:
        for node in nodes:
            if isinstance(node, int):
                yield line(node)
                continue
            number = next(names)
            bound = f"%c{node.count}"
            if not node.known:
                yield f"%n{number} = nki.register"
                yield f"nisa.register_move dst=%n{number}, src=%c{node.count}"
                yield f"%b{number} = nki.read %n{number}"
                bound = f"%b{number}"
            yield f"scf.for %i{number} = %c0 to {bound} step %c1 : i32 {{"
            yield from block(node.body)
            yield "}"

    yield from (f"%c{number} = arith.constant {number} : i32" for number in range(MOST + 1))
    yield from block(program)
