"""In which order the queues of a run move: a choice, again and again, among all moves there are.

Few races show when every choice is a toss-up: queues then advance side by side. Most show when
some queues get far ahead of others, so most interleavings go by priorities that change rarely.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from nkijit.passes.lower.program import Item, Queue


@dataclass(frozen=True, slots=True)
class Move:
    """Something that can happen next."""

    core: int
    """The number of the core among all of the run."""
    queue: Queue
    item: Item
    """The instruction that begins or ends, or the loop that begins, goes on or ends."""
    ends: bool
    """True when an instruction ends, and what it writes becomes visible."""
    inside: frozenset[Item]
    """The loops that it is in, in this queue."""


class Interleaving(Protocol):
    """Decides what happens next."""

    def choose(self, moves: Sequence[Move]) -> Move:
        """One of the moves; there is at least one."""
        ...


@dataclass(slots=True)
class Uniform:
    """Every move is as likely as the others."""

    random: Random

    def choose(self, moves: Sequence[Move]) -> Move:
        """Any of the moves."""
        return self.random.choice(moves)


Class = tuple[int, Queue, bool]
"""Moves that have one priority: those of a queue, its beginnings and its ends by themselves."""


@dataclass(slots=True)
class Priorities:
    """The move of the highest priority; what counts changes a few times in a run.

    Sets of priorities that are few and random find most races that take few steps in a certain
    order (Burckhardt et al., A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs).
    """

    random: Random
    change: float = 0.01
    """How likely a priority changes with each choice."""
    bias: Callable[[Move], float] = field(default=lambda move: 0.0)
    """Added to the random priorities, which are between 0 and 1."""
    _of: dict[Class, float] = field(default_factory=dict[Class, float])

    def choose(self, moves: Sequence[Move]) -> Move:
        """The most urgent of the moves."""
        if self.random.random() < self.change:
            move = self.random.choice(moves)
            self._of[move.core, move.queue, move.ends] = self.random.random()
        return max(moves, key=self._priority)

    def _priority(self, move: Move) -> float:
        key = (move.core, move.queue, move.ends)
        if key not in self._of:
            self._of[key] = self.random.random()
        return self._of[key] + self.bias(move)


def late_transfers(move: Move) -> float:
    """DMAs take long."""
    return -1.0 if move.queue.is_ring else 0.0


def early_transfers(move: Move) -> float:
    """DMAs take no time."""
    return 1.0 if move.queue.is_ring else 0.0


def late_ends(move: Move) -> float:
    """Instructions begin as early and end as late as they can."""
    return -1.0 if move.ends else 0.0


def apart(before: Item, waiter: Item) -> Callable[[Move], float]:
    """`before` happens as late as it can, and `waiter` as early."""

    def bias(move: Move) -> float:
        if move.item is before or before in move.inside:
            return -2.0
        return 2.0 if move.queue is waiter.queue else 0.0

    return bias


def interleaving_of(seed: int) -> Interleaving:
    """One of many interleavings, of several sorts; equal seeds make equal choices."""
    random = Random(seed)
    sorts: tuple[Callable[[], Interleaving], ...] = (
        lambda: Uniform(random),
        lambda: Priorities(random),
        lambda: Priorities(random, bias=late_transfers),
        lambda: Priorities(random, bias=early_transfers),
        lambda: Priorities(random, bias=late_ends),
        lambda: Priorities(random, change=0.2),
    )
    return sorts[seed % len(sorts)]()
