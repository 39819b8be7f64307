"""Strategies that choose the order in which the queues of a run advance.

A run is a sequence of *moves*, which a strategy chooses one by one. Uniform choices reveal few
races because the queues advance together. Most races appear when some queues run far ahead of
others, so most interleavings use priorities that change rarely.
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
    """The phases of an instruction. A move of a queue performs one of them."""

    begin = "begin"
    """An instruction begins; in an engine queue, it also reads. A loop begins, iterates or ends."""
    read = "read"
    """A DMA transfer reads its source."""
    write = "write"
    """A DMA transfer writes its destination."""
    end = "end"
    """An instruction ends and signals; in an engine queue, it writes first."""


@dataclass(frozen=True, slots=True)
class Move:
    """A possible next step of a run: a queue performs one phase of an instruction or loop."""

    core: int
    """The number of the core among all cores of the run."""
    queue: Queue
    item: Item
    """The instruction or loop that makes the move."""
    moment: Moment
    inside: frozenset[Item]
    """The loops around the current position of the queue."""
    place: int = 0
    """The item's index among the items of the queue that have begun and not ended."""


class Interleaving(Protocol):
    """A strategy that chooses the next move."""

    def choose(self, moves: Sequence[Move]) -> Move:
        """Return one of the moves (possible next steps); there is at least one."""
        ...


@dataclass(slots=True)
class Uniform:
    """Chooses uniformly at random."""

    random: Random

    def choose(self, moves: Sequence[Move]) -> Move:
        """Return one of the moves, at random."""
        return self.random.choice(moves)


Class = tuple[int, Queue, Moment]
"""A class of moves with the same priority: (core, queue, moment)."""


@dataclass(slots=True)
class Priorities:
    """Chooses the move of the highest priority; priorities change a few times in a run.

    A few random sets of priorities find most races that need few steps in a certain order
    (Burckhardt et al., A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs).
    """

    random: Random
    change: float = 0.01
    """The probability that a priority changes when a move is chosen."""
    bias: Callable[[Move], float] = field(default=lambda move: 0.0)
    """Returns the number that is added to the random priority (0 to 1) of a move."""
    _of: dict[Class, float] = field(default_factory=dict[Class, float])

    def choose(self, moves: Sequence[Move]) -> Move:
        """Return the move of the highest priority."""
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
    """Return the bias of a move, so that DMAs run as late as possible."""
    return -1.0 if move.queue.is_ring else 0.0


def early_transfers(move: Move) -> float:
    """Return the bias of a move, so that DMAs run as early as possible."""
    return 1.0 if move.queue.is_ring else 0.0


def late_ends(move: Move) -> float:
    """Return the bias of a move, so that instructions begin early and end late."""
    return -1.0 if move.moment in (Moment.write, Moment.end) else 0.0


def starved(queue: Queue) -> Callable[[Move], float]:
    """Return a bias function under which a queue moves only if no other queue can move."""
    return lambda move: -1.0 if move.queue is queue else 0.0


def apart(before: Item, waiter: Item) -> Callable[[Move], float]:
    """Return a bias function that delays item `before` and prefers the queue of `waiter`."""

    def bias(move: Move) -> float:
        if move.item is before or before in move.inside:
            return -2.0
        return 2.0 if move.queue is waiter.queue else 0.0

    return bias


def interleaving_of(seed: int) -> Interleaving:
    """Return an interleaving of one of several strategies; equal seeds give equal choices."""
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
