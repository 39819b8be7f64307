"""The place where the terms of two kernels diverge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.prove.algebra import Level
from nkijit.passes.prove.digests import Words
from nkijit.passes.prove.recording import Shape
from nkijit.passes.prove.terms import Node, Terms

MOST_STEPS = 1000
"""The largest depth of terms that are compared."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """The parts of two terms at which the terms begin to differ."""

    old: str
    new: str
    """The parts as expressions."""
    old_place: Position | None
    new_place: Position | None
    """The lines that compute the parts."""
    inside: bool
    """True if the parts are operands of equal constructors; False for whole terms."""
    steps: tuple[str, ...]
    """The names of the constructors around the parts, the outermost first."""

    @property
    def lines(self) -> list[str]:
        """Both parts as lines of text, with their places."""
        around = f" inside {' of '.join(reversed(self.steps[-3:]))}" if self.steps else ""
        return [
            f"old: {self.old}{_at(self.old_place)}{around}",
            f"new: {self.new}{_at(self.new_place)}",
        ]


def _at(place: Position | None) -> str:
    return "" if place is None else f"  at {place.line_text}"


def divergence(
    kernels: tuple[Sequence[KernelOp], Sequence[KernelOp]],
    level: Level,
    name: str,
    index: Sequence[int],
    rank: int = 0,
    trips: int | None = None,
) -> Divergence:
    """Return the place where the terms of an element of a result diverge.

    Args:
        kernels: the programs of the old and of the new kernel.
        level: the level at which the terms differ.
        name: the name of the result in the old kernel.
        index: the element.
        rank: the rank with the result.
        trips: the iterations of loops that depend on inputs.
    """
    old, new = (
        Terms(each, level, run, trips) for each, run in zip(kernels, ("old", "new"), strict=True)
    )
    names = old.names()
    pair = old.node(name, index, rank), new.node(new.names()[names.index(name)], index, rank)
    steps: list[str] = []
    places: tuple[Position | None, Position | None] = old.place(pair[0]), new.place(pair[1])
    for _ in range(MOST_STEPS):
        below = _next(old, new, *pair)
        if below is None:
            break
        steps.append(old.label(pair[0]))
        pair = below
        places = old.place(pair[0]) or places[0], new.place(pair[1]) or places[1]
    texts = old.text(pair[0]), new.text(pair[1])
    return Divergence(*texts, *places, bool(steps), tuple(steps))


def _next(old: Terms, new: Terms, before: Node, after: Node) -> tuple[Node, Node] | None:
    """Return the first operands in which two nodes differ; None if the nodes differ as such."""
    one, two = old.call(before), new.call(after)
    if one is None or two is None or (one.shape, one.name) != (two.shape, two.name):
        return None
    left, right = old.operands(before), new.operands(after)
    if [len(each) for each in left] != [len(each) for each in right]:
        return None
    if one.shape is Shape.product:
        return _of_pairs(old, new, (before, after), (left, right))
    words = [np.concatenate(each) if each else np.zeros(0, np.uint64) for each in (left, right)]
    places = np.flatnonzero(words[0] != words[1])
    if len(places) > 1 and set(words[0][places]) & set(words[1][places]):
        # Operands in another order: compare those without an equal one.
        rest = [_without(words[0], words[1]), _without(words[1], words[0])]
        if len(rest[0]) != 1 or len(rest[1]) != 1:
            return None
        return old.child(before, rest[0][0]), new.child(after, rest[1][0])
    if not len(places):
        return None
    at = int(places[0])
    return old.child(before, words[0][at]), new.child(after, words[1][at])


def _of_pairs(
    old: Terms, new: Terms, nodes: tuple[Node, Node], sides: tuple[list[Words], list[Words]]
) -> tuple[Node, Node] | None:
    """Return the first factors in which two sums of products differ, if they are in one order."""
    for before, after in zip(*sides, strict=True):
        places = np.flatnonzero(before != after)
        if len(places):
            at = int(places[0])
            return old.child(nodes[0], before[at]), new.child(nodes[1], after[at])
    return None


def _without(some: Words, others: Words) -> list[np.uint64]:
    left = list(others)
    found: list[np.uint64] = []
    for word in some:
        if word in left:
            left.remove(word)
        else:
            found.append(word)
    return found
