"""Runs a lowered kernel as its queues do: concurrently, in any order that the waits allow.

Lowering assigns addresses and decides which instructions wait for which. Neither may change the
kernel's results, so a run of the queues must match the interpreter bit by bit in every order. An
`Interleaving` chooses the order of a run.

An engine instruction has two moments. When it *begins*, it reads the bytes of its operands from the
memories of the core, at their addresses. When it *ends*, it computes with the interpreter's
semantics and writes its results to those memories. Other queues may move in between. The transfers
of a ring begin in order and end in order; in between they read and write at arbitrary moments. An
instruction waits only for its `waits`, and a wait is over when the queue has signalled often
enough; `Item.edges` are ignored. So a missing wait gives a wrong result in some interleaving, and a
wait that makes no difference is unnecessary.

Registers belong to the core, iteration counts to each queue. A transfer uses the register values
that its trigger has read. A ring runs a loop as often as the queue that triggers its transfers. The
iteration in which the test of a loop fails counts as a complete iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from nkijit.passes.interpret.plan.lending import Loan
from nkijit.passes.interpret.plan.plan import Listener, Plan, launched_together
from nkijit.passes.interpret.queues.actions import Actions
from nkijit.passes.interpret.queues.flat import PATTERNS, Memory
from nkijit.passes.interpret.queues.interleavings import (
    Interleaving,
    Moment,
    interleaving_of,
)
from nkijit.passes.interpret.queues.sequencer import (
    Arrival,
    CoreState,
    QueueError,
    Sequencer,
)
from nkijit.passes.interpret.records.environment import Array
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.interpret.records.machine import Core
from nkijit.passes.lower.program import Program
from nkijit.passes.numerics.storage import untrapped


class Queues:
    """A lowered kernel for a launch: the queues of each core."""

    def __init__(self, programs: Sequence[Program]):
        """Prepare a launch. `programs` has one program per core, in order."""
        self._programs = tuple(programs)
        self._plans = launched_together([Plan(program.kernel) for program in programs])
        self._actions = [Actions(*both) for both in zip(self._plans, programs, strict=True)]
        self._written = set[int]().union(*(plan.written_arguments for plan in self._plans))

    def run(
        self,
        inputs: Sequence[Any],
        listener: Listener | None = None,
        *,
        seed: int = 0,
        interleaving: Interleaving | None = None,
        finish: Callable[[list[Array]], Any] = list,
    ) -> Any:
        """Run on one rank; see `Plan.run`.

        Args:
            inputs: one array per kernel argument, of its shape and data type.
            listener: receives every NKI instruction after it has computed; instructions of
                different queues arrive in the order of this run.
            seed: determines the contents of unwritten memory, and the order in which queues
                advance.
            interleaving: determines the order instead.
            finish: converts the results to the returned value.

        Raises QueueError if no move is possible before the end, or if an engine does not hold the
        data that an instruction needs.
        """
        return self.run_ranks(
            [inputs],
            listener,
            seed=seed,
            interleaving=interleaving,
            finish=lambda results: finish(results[0]),
        )

    def run_ranks(
        self,
        inputs: Sequence[Sequence[Any]],
        listener: Listener | None = None,
        *,
        seed: int = 0,
        interleaving: Interleaving | None = None,
        finish: Callable[[list[list[Array]]], Any] = list,
    ) -> Any:
        """Run on several ranks, each with its own inputs; `finish` gets each rank's results."""
        pattern = Random(seed).choice(PATTERNS)
        cores: list[CoreState] = []
        for rank, arguments in enumerate(inputs):
            memory: dict[int, Array] = {}
            for number, plan in enumerate(self._plans):
                place = Core(rank, number)
                homes = plan.start(
                    arguments, core=place, memory=memory, written=self._written, apart=True
                )
                env = plan.start(arguments, core=place, written=self._written, apart=True)
                for slot in plan.overwritten:
                    homes[slot][...] = pattern
                unwritten = {
                    value for i, value in enumerate(plan.kernel.arguments) if i not in self._written
                }
                program, actions = self._programs[number], self._actions[number]
                chip = Memory(program.placement, plan.slots, homes, env, unwritten, pattern)
                core = CoreState(
                    len(cores), place, program, plan, actions, env, homes, chip, listener
                )
                cores.append(core)
        untrapped(_Run(cores).run, interleaving or interleaving_of(seed))
        plan, firsts = self._plans[0], cores[:: len(self._plans)]

        def give_back(loan: Loan) -> Any:
            results = finish([plan.results(core.homes) for core in firsts])
            for arguments, core in zip(inputs, firsts, strict=True):
                plan.copy_back(loan, arguments, core.homes, self._written)
            return results

        return Loan().run(give_back)


# ------------------------------------------------------------------ all queues of a run


class _Run:
    def __init__(self, cores: Sequence[CoreState]):
        self._cores = {core.where for core in cores}
        self._queues = {
            (core.number, queue): Sequencer(core, queue)
            for core in cores
            for queue in core.program.queues
        }
        self._arrived: list[Arrival] = []

    def run(self, interleaving: Interleaving) -> None:
        """Execute moves (steps of a queue), chosen by `interleaving`, until all queues are done.

        Raises QueueError if no move is possible although a queue is not done.
        """
        queues = list(self._queues.values())
        while moves := [move for queue in queues for move in queue.moves()]:
            move = interleaving.choose(moves)
            queue = self._queues[move.core, move.queue]
            queue.do(move)
            if move.moment is Moment.begin and queue.in_flight:
                begun = queue.in_flight[-1]
                if begun.item is move.item and begun.meeting is not None:
                    self._arrive(Arrival(queue, begun))
        stuck = [queue.describe() for queue in queues if not queue.done]
        if stuck:
            raise QueueError("\n".join(["the queues wait for each other for ever:", *stuck]))

    def _arrive(self, arrival: Arrival) -> None:
        """Record an arrival at a `Meeting`; at the last one, read the operands of all arrivals."""
        meeting = arrival.flight.meeting
        assert meeting is not None
        absent = meeting.members - self._cores
        if absent:
            raise InterpretationError(f"{meeting.place} meets cores that this run does not have")
        self._arrived.append(arrival)
        here: dict[Core, Arrival] = {}
        for other in self._arrived:
            other_meeting = other.flight.meeting
            if other_meeting is not None and other_meeting.key == meeting.key:
                place = other.queue.core.where
                if place in meeting.members:
                    here.setdefault(place, other)
        if len(here) < len(meeting.members):
            return
        group = list(here.values())
        for member in group:
            self._arrived.remove(member)
            member.flight.group = group
            member.flight.due = Moment.write if member.queue.queue.is_ring else Moment.end
            member.flight.operands = member.queue.take(member.queue.action(member.flight))
