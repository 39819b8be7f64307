"""In which order the queues of a run move: a choice, again and again, among all moves there are.

Few races show when every choice is a toss-up: queues then advance side by side. Most show when
some queues get far ahead of others, so most interleavings go by priorities that change rarely.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from random import Random
from typing import Protocol

from nkijit.dialects.engine.queues import QUEUES, Queue
from nkijit.passes.lower.program import Item


class Moment(Enum):
    """What happens to an instruction in a move."""

    begin = "begin"
    """It begins; in the queue of an engine, it reads, too. A loop begins, goes on, or is left."""
    read = "read"
    """A transfer reads."""
    write = "write"
    """A transfer writes."""
    end = "end"
    """It ends, and signals; in the queue of an engine, it writes before."""


@dataclass(frozen=True, slots=True)
class Move:
    """Something that can happen next."""

    core: int
    """The number of the core among all of the run."""
    queue: Queue
    item: Item
    """An instruction, or a loop."""
    moment: Moment
    inside: frozenset[Item]
    """The loops that the queue is in."""
    place: int = 0
    """Its place among what has begun in the queue and not ended."""


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


Class = tuple[int, Queue, Moment]
"""Moves that have one priority."""


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
            self._of[move.core, move.queue, move.moment] = self.random.random()
        return max(moves, key=self._priority)

    def _priority(self, move: Move) -> float:
        key = (move.core, move.queue, move.moment)
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
    return -1.0 if move.moment in (Moment.write, Moment.end) else 0.0


def starved(queue: Queue) -> Callable[[Move], float]:
    """One queue moves when no other one can."""
    return lambda move: -1.0 if move.queue is queue else 0.0


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
        lambda: Priorities(random, bias=starved(random.choice(QUEUES))),
        lambda: Priorities(random, change=0.2),
    )
    return sorts[seed % len(sorts)]()
