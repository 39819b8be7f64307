"""A kernel as the events that an analysis follows, with its loops, and walks over it.

An analysis names what it follows (`event_tree` asks it about every operation) and walks the
result: `forward` with a state that events change, `backward` with what is needed later. Loops on
the device may have unknown numbers of iterations; both walks go around a body until nothing
changes any more.
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
    """Events one after the other, and the loop on the device that follows them, if any."""

    events: list[E]
    loop: Repetition[E] | None = None


@dataclass(slots=True)
class Repetition(Generic[E]):
    """A loop on the device."""

    op: Operation
    body: EventTree[E]
    least: int
    """Iterations that are sure to run."""
    most: int | None
    """Iterations at most; None when that is known on the device only."""


EventTree = list[EventSequence[E]]
"""A block: its events and loops in program order."""


def event_tree(block: Block, event: Callable[[Operation], E | None]) -> EventTree[E]:
    """The events of a block and of the loops in it; operations without an event are left out.

    `event` is asked in program order, also about loops that never run and are left out; not about
    declarations.
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
            made = event(op)
            if made is not None:
                into[-1].events.append(made)


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
        # The test runs first, and once more after each iteration.
        test = event_tree(op.before_region.block, event)
        body = event_tree(op.after_region.block, event)
        for program in (into, body):
            program[-1].events += test[0].events
            program[-1].loop = test[0].loop
            program += test[1:]
        _add_loop(into, Repetition(op, body, 0, None))


def _add_loop(program: EventTree[E], loop: Repetition[E]) -> None:
    if any(stretch.events or stretch.loop for stretch in loop.body):
        program[-1].loop = loop
        program.append(EventSequence([]))


class Flow(Protocol[_E_contra, K, V]):
    """What a walk forward follows: for each of several keys, what is known.

    Knowledge is replaced, never changed, and compared with `==`.
    """

    start: V
    """What is known before the program."""

    def keys(self, event: _E_contra) -> Iterable[K]:
        """What an event may change the knowledge of."""
        ...

    def visit(self, event: _E_contra, state: dict[K, V], certain: bool) -> None:
        """Change a state as the event does; keys that it does not have are at their start.

        `certain` is False when it is not known whether the loops around the event run so often
        that it meets this state.
        """
        ...

    def join(self, one: V, two: V) -> V:
        """What is known when either may be the case."""
        ...


def forward(
    program: EventTree[E], state: dict[K, V], flow: Flow[E, K, V], certain: bool = True
) -> None:
    """Walk a program and change the state as it does.

    The first iteration of a loop is walked with the state before the loop alone, the others
    with what iterations may leave.
    """
    for stretch in program:
        for event in stretch.events:
            flow.visit(event, state, certain)
        if stretch.loop is not None:
            _repeat(stretch.loop, state, flow, certain)


def _repeat(loop: Repetition[E], state: dict[K, V], flow: Flow[E, K, V], certain: bool) -> None:
    # Of a large kernel a loop changes little; what it cannot change stays out of it.
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
    """All events of a program, those of its loops among them, in program order."""
    for stretch in program:
        yield from stretch.events
        if stretch.loop is not None:
            yield from events_of(stretch.loop.body)


def backward(program: EventTree[E], needed: int, visit: Callable[[E, int], int]) -> int:
    """Walk a program from its end; returns what is needed at its start.

    Args:
        program: the program.
        needed: what is needed at its end, as bits.
        visit: from an event and what is needed after it to what is needed before it. It is
            called again, with more bits, while the walk goes around loops.
    """
    for stretch in reversed(program):
        loop = stretch.loop
        if loop is not None:
            after, inside = needed, backward(loop.body, needed, visit)
            while loop.most != 1:
                more = inside | backward(loop.body, after | inside, visit)
                if more == inside:
                    break
                inside = more
            needed = inside if loop.least else after | inside
        for event in reversed(stretch.events):
            needed = visit(event, needed)
    return needed
