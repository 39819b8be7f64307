"""Loops whose trip counts depend on inputs: they have terms for a given number of iterations.

A run on digests assumes that such loops run a given number of times, and collects its assumptions:
the terms of bounds and conditions. A proof then holds for the inputs for which they are true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.scf import ForOp

from nkijit.dialects.spelling import numbered
from nkijit.passes.interpret.records.environment import Env, Slots, Step
from nkijit.passes.interpret.steps.body import Body, ConditionalLoop, CountedLoop
from nkijit.passes.interpret.steps.forms import StepForm
from nkijit.passes.prove.algebra import Algebra
from nkijit.passes.prove.digests import Cells
from nkijit.passes.prove.errors import NotProvableError
from nkijit.passes.prove.symbols import Symbol, register_cells

Fact = tuple[object, ...]


@dataclass(slots=True)
class Trips:
    """The number of iterations of loops that depend on inputs, and the facts that it assumes."""

    count: int | None = None
    """None if there is no given number: such a loop has no term."""
    facts: set[Fact] = field(default_factory=set[Fact])

    def assume(self, loop: Any, fact: Fact, denied: Fact | None = None) -> int:
        """Note a fact, and return the given count.

        Raises NotProvableError without a count, or if `denied`, the contrary, was assumed.
        """
        if self.count is None:
            raise NotProvableError("its trip count depends on inputs", loop)
        if denied in self.facts:
            raise NotProvableError(
                f"it does not end after {numbered(self.count, 'iteration')}", loop
            )
        self.facts.add(fact)
        return self.count


@dataclass(frozen=True, slots=True, eq=False)
class _GivenLoop(ConditionalLoop):
    """A loop that runs a given number of times if its condition depends on inputs."""

    trips: Trips

    def continues(self, env: Env, limit: int, done: int) -> bool:
        content: int | Symbol = env[self.condition]
        if not isinstance(content, Symbol):
            return ConditionalLoop.continues(self, env, limit, done)
        holds = self.trips.count is not None and done < self.trips.count
        term = content.cells.tobytes()
        self.trips.assume(self.op, ("condition", term, holds), ("condition", term, not holds))
        return holds


def give_trips(body: Body, algebra: Algebra, trips: Trips) -> None:
    """Let loops run a given number of times, and comparisons of registers have terms."""
    for inner in body.all():
        for position, op in enumerate(inner.ops):
            loop = inner.loops.get(position)
            if isinstance(op, CmpiOp):
                inner.forms[position] = StepForm(_not_equal(inner.slots, op, algebra), None)
            if loop is None:
                continue
            if isinstance(loop, CountedLoop):
                numbers = cast(Callable[[Env], range], _numbers(inner.slots, loop, algebra, trips))
                given = CountedLoop(loop.op, loop.body, loop.index, numbers, loop.count)
            else:
                given = _GivenLoop(
                    loop.op, loop.before, loop.body, loop.condition, loop.count, trips
                )
            inner.loops[position] = given
            inner.forms[position] = StepForm(given.run, None)
            if position in inner.drivers:
                inner.drivers[position] = given.drive


def _numbers(
    slots: Slots, loop: CountedLoop, algebra: Algebra, trips: Trips
) -> Callable[[Env], Sequence[int | Symbol]]:
    op: ForOp = loop.op
    readers = [slots.register_reader(value, op) for value in (op.lb, op.ub, op.step)]

    def numbers(env: Env) -> Sequence[int | Symbol]:
        bounds: list[int | Symbol] = [read(env) for read in readers]
        if not any(isinstance(bound, Symbol) for bound in bounds):
            return loop.numbers(env)
        step = bounds[2]
        if isinstance(step, Symbol) or step < 1:
            raise NotProvableError("its step depends on inputs", op)
        terms = [register_cells(bound, algebra) for bound in bounds]
        count = trips.assume(op, ("range", *(term.tobytes() for term in terms)))
        lower = bounds[0]
        if not isinstance(lower, Symbol):
            return range(lower, lower + step * count, step)
        return [lower, *(Symbol(_plus(algebra, terms[0], n * step)) for n in range(1, count))][
            :count
        ]

    return numbers


def _plus(algebra: Algebra, term: Cells, number: int) -> Cells:
    return algebra.on_registers("add", term, algebra.number(float(number)))


def _not_equal(slots: Slots, op: CmpiOp, algebra: Algebra) -> Step:
    readers = [slots.register_reader(value, op) for value in (op.lhs, op.rhs)]
    into = slots.register(op.result)

    def step(env: Env) -> None:
        contents: list[int | Symbol] = [read(env) for read in readers]
        if any(isinstance(content, Symbol) for content in contents):
            terms = [register_cells(content, algebra) for content in contents]
            env[into] = Symbol(algebra.on_registers("not_equal", *terms))
        else:
            env[into] = int(contents[0] != contents[1])

    return step
