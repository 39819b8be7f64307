"""A kernel as a tree of events and loops, and dataflow walks over it.

`event_tree` calls an analysis for every operation to get its event. The analysis then walks the
tree: `forward` with a state that events change, or `backward` with a set that later events need.
Device loops may have unknown trip counts; both walks repeat a body until a fixed point.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation

from nkijit.dialects.nki.allocation import DECLARATIONS
from nkijit.dialects.nki.kernel import NoReorderOp
from nkijit.dialects.walks import directly_in
from nkijit.passes.analysis.flow.ranges import constant_range

E = TypeVar("E")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
_E_contra = TypeVar("_E_contra", contravariant=True)


@dataclass(slots=True)
class EventSequence(Generic[E]):
    """Consecutive events, and the device loop that follows them, if any."""

    events: list[E]
    loop: Repetition[E] | None = None


@dataclass(slots=True)
class Repetition(Generic[E]):
    """A loop on the device."""

    op: Operation
    body: EventTree[E]
    least: int
    """The smallest possible trip count."""
    most: int | None
    """The largest possible trip count; None if it is known only at run time."""


EventTree = list[EventSequence[E]]
"""A block: its events and loops in program order."""


def event_tree(block: Block, event: Callable[[Operation], E | None]) -> EventTree[E]:
    """Return the events of a block and of its loops.

    `event` is called in program order for each operation except declarations; None means no event.
    It is also called in loops that never run, which the tree omits.
    """
    program: EventTree[E] = [EventSequence([])]
    _collect(block, event, program)
    return program


def _collect(block: Block, event: Callable[[Operation], E | None], into: EventTree[E]) -> None:
    for op in directly_in(block):
        kind = type(op)
        if kind in DECLARATIONS:
            continue
        if kind in _REGIONS:
            _enter(op, event, into)
        else:
            new = event(op)
            if new is not None:
                into[-1].events.append(new)


_REGIONS = (ForOp, WhileOp, NoReorderOp)


def _enter(op: Operation, event: Callable[[Operation], E | None], into: EventTree[E]) -> None:
    if isinstance(op, NoReorderOp):
        _collect(op.body.block, event, into)
    elif isinstance(op, ForOp):
        values = constant_range(op)
        count = None if values is None else len(values)
        body = event_tree(op.body.block, event)
        if count != 0:
            _add_loop(into, Repetition(op, body, count or 0, count))
    elif isinstance(op, WhileOp):
        # The condition runs first, and again after each iteration.
        test = event_tree(op.before_region.block, event)
        body = event_tree(op.after_region.block, event)
        for program in (into, body):
            program[-1].events += test[0].events
            program[-1].loop = test[0].loop
            program += test[1:]
        _add_loop(into, Repetition(op, body, 0, None))


def _add_loop(program: EventTree[E], loop: Repetition[E]) -> None:
    if any(sequence.events or sequence.loop for sequence in loop.body):
        program[-1].loop = loop
        program.append(EventSequence([]))


class Flow(Protocol[_E_contra, K, V]):
    """A forward dataflow analysis, whose state maps keys to facts.

    Facts are replaced, never mutated, and compared with `==`.
    """

    start: V
    """The fact of each key at the start of the program."""

    def keys(self, event: _E_contra) -> Iterable[K]:
        """Return the keys whose facts an event may change."""
        ...

    def visit(self, event: _E_contra, state: dict[K, V], certain: bool) -> None:
        """Apply an event to a state; keys missing in the state have the fact `start`.

        `certain` is False if the event may never run after this state, because a loop around it may
        run fewer iterations.
        """
        ...

    def join(self, one: V, two: V) -> V:
        """Return a fact that is valid after either of two paths, given the fact of each path."""
        ...


def forward(
    program: EventTree[E], state: dict[K, V], flow: Flow[E, K, V], certain: bool = True
) -> None:
    """Apply the events of a program to a state.

    The first iteration of a loop sees only the state before the loop; later iterations see the join
    over all iterations.
    """
    for sequence in program:
        for event in sequence.events:
            flow.visit(event, state, certain)
        if sequence.loop is not None:
            _repeat(sequence.loop, state, flow, certain)


def _repeat(loop: Repetition[E], state: dict[K, V], flow: Flow[E, K, V], certain: bool) -> None:
    # A loop changes few of the keys of a large kernel; only these are joined.
    keys = {key for event in events_of(loop.body) for key in flow.keys(event)}

    def joined(one: dict[K, V], two: dict[K, V]) -> dict[K, V]:
        return {k: flow.join(one.get(k, flow.start), two.get(k, flow.start)) for k in keys}

    entry = {key: state.get(key, flow.start) for key in keys}
    after = later = dict(entry)
    forward(loop.body, after, flow, certain)
    while loop.most != 1:
        later = dict(after)
        forward(loop.body, later, flow, certain and loop.least > 1)
        either = joined(after, later)
        if either == after:
            break
        after = either
    if loop.least == 0:
        after = joined(entry, after)
    state.update(later if loop.least > 1 else after)


def events_of(program: EventTree[E]) -> Iterator[E]:
    """Yield all events of a program, including those of its loops, in program order."""
    for sequence in program:
        yield from sequence.events
        if sequence.loop is not None:
            yield from events_of(sequence.loop.body)


def backward(program: EventTree[E], needed: int, visit: Callable[[E, int], int]) -> int:
    """Walk a program from its end to its start; returns the set needed at its start.

    Args:
        program: the program.
        needed: the set needed at the program's end, as bits.
        visit: maps an event and the set needed after it to the set needed before it. It is called
            again with larger sets while a loop has not reached its fixed point.
    """
    for sequence in reversed(program):
        loop = sequence.loop
        if loop is not None:
            after, inside = needed, backward(loop.body, needed, visit)
            while loop.most != 1:
                more = inside | backward(loop.body, after | inside, visit)
                if more == inside:
                    break
                inside = more
            needed = inside if loop.least else after | inside
        for event in reversed(sequence.events):
            needed = visit(event, needed)
    return needed
