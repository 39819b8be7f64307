"""Run a lowered kernel as its queues do: concurrently, and in any order that the waits allow.

Lowering decides where tiles lie and who waits for whom. Nothing of that changes what a kernel
computes, so a run of the queues must give bit for bit what the interpreter gives, in whatever
order things happen. Here they happen in an order that an `Interleaving` chooses.

An engine instruction is two moments. When it *begins*, it takes the bytes of everything that it
reads from the memories of the core, at their addresses. When it *ends*, it computes, with the
interpreter's own semantics, and puts the bytes that it writes there. In between, other queues
move. The transfers of a ring begin in order and end in order, and in between they read and write
whenever they like. What an instruction waits for is its `waits` alone, and a wait is over when
the queue has signalled often enough; `Item.edges` are not looked at. So a missing wait is a wrong
result in some interleaving, and one that makes no difference is not needed.

Registers belong to the core, and what counts the iterations of a loop to each queue. A transfer
goes by the registers that its trigger has read. A ring runs a loop as often as the queue that
starts its transfers. The iteration in which the test of a loop fails counts as a whole one.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar, cast

import numpy as np
from xdsl.dialects.scf import WhileOp
from xdsl.ir import Operation

from nkijit.dialects.declare import is_instruction
from nkijit.dialects.engine_costs import table_of
from nkijit.dialects.nisa.matmul import NcMatmulOp
from nkijit.passes.interpret.actions import Action, Actions, Name
from nkijit.passes.interpret.binding import Array, Env
from nkijit.passes.interpret.body import loop_limit, runaway
from nkijit.passes.interpret.errors import InterpretationError
from nkijit.passes.interpret.flat import PATTERNS, Memory, Tile
from nkijit.passes.interpret.interleavings import Interleaving, Moment, Move, interleaving_of
from nkijit.passes.interpret.machine import Core, Meeting, Runner, place_of
from nkijit.passes.interpret.plan import Listener, Plan
from nkijit.passes.lower.program import (
    Instruction,
    Item,
    Loop,
    Program,
    Queue,
    QueueLoop,
    Wait,
    What,
)

_T = TypeVar("_T")


class QueueError(InterpretationError):
    """The queues of a lowered kernel cannot do what it says: the lowering is wrong."""


class Queues:
    """A lowered kernel as it is launched: the queues of each core."""

    def __init__(self, programs: Sequence[Program]):
        """`programs`: what each core runs, in order."""
        self._programs = tuple(programs)
        self._plans = [Plan(program.kernel) for program in programs]
        self._actions = [Actions(*both) for both in zip(self._plans, programs, strict=True)]
        self._written = set[int]().union(*(plan.written_arguments for plan in self._plans))
        filled = {number: fill for plan in self._plans for number, fill in plan.filled.items()}
        for plan in self._plans:
            plan.fill(filled)

    def run(
        self,
        inputs: Sequence[Any],
        listener: Listener | None = None,
        *,
        seed: int = 0,
        interleaving: Interleaving | None = None,
    ) -> list[Array]:
        """Run on one rank; see `Plan.run`.

        Args:
            inputs: one array per kernel argument, of its shape and data type.
            listener: told of every NKI instruction when it has computed; those of different
                queues come in the order of this run.
            seed: says what unwritten memory holds, and the order in which queues move.
            interleaving: says that order instead.

        Raises QueueError when nothing can move any more, and when an engine does not hold what an
        instruction needs.
        """
        return self.run_ranks([inputs], listener, seed=seed, interleaving=interleaving)[0]

    def run_ranks(
        self,
        inputs: Sequence[Sequence[Any]],
        listener: Listener | None = None,
        *,
        seed: int = 0,
        interleaving: Interleaving | None = None,
    ) -> list[list[Array]]:
        """Run on several ranks, each with inputs of its own; returns the results of each."""
        pattern = Random(seed).choice(PATTERNS)
        cores: list[_Core] = []
        for rank, arguments in enumerate(inputs):
            memory: dict[int, Array] = {}
            for number, plan in enumerate(self._plans):
                who = Core(rank, number)
                homes = plan.start(arguments, core=who, memory=memory, written=self._written)
                env = plan.start(arguments, core=who, written=self._written)
                for slot in plan.overwritten:
                    homes[slot][...] = pattern
                unwritten = {
                    value for i, value in enumerate(plan.kernel.arguments) if i not in self._written
                }
                program, actions = self._programs[number], self._actions[number]
                chip = Memory(program.placement, plan.compiler, homes, env, unwritten, pattern)
                core = _Core(len(cores), who, program, plan, actions, env, homes, chip, listener)
                cores.append(core)
        with np.errstate(all="ignore"):
            _Run(cores).run(interleaving or interleaving_of(seed))
        results: list[list[Array]] = []
        for arguments, core in zip(inputs, cores[:: len(self._plans)], strict=True):
            self._plans[0].copy_back(arguments, core.homes, self._written)
            results.append(self._plans[0].results(core.homes))
        return results


# ------------------------------------------------------------------ the state of a core

Taken = dict[Name, tuple[Tile, Array]]
"""Operands, with the bits that memory held."""


@dataclass(slots=True, eq=False)
class _Core:
    """What the queues of a core share."""

    number: int
    who: Core
    program: Program
    plan: Plan
    actions: Actions
    env: Env
    """Where instructions compute."""
    homes: Env
    """HBM."""
    memory: Memory
    listener: Listener | None
    counts: Counter[tuple[Queue, Loop | None]] = field(
        default_factory=Counter[tuple[Queue, "Loop | None"]]
    )
    """How far each queue has counted, in each block."""
    rings: dict[Queue, deque[tuple[Instruction, dict[int, Any]]]] = field(
        default_factory=dict[Queue, "deque[tuple[Instruction, dict[int, Any]]]"]
    )
    """What each ring has been given: triggers, with the registers that their DMAs go by."""
    rounds: dict[tuple[Queue, Loop], list[bool]] = field(
        default_factory=dict[tuple[Queue, Loop], list[bool]]
    )
    """For each engine's queue, True for every iteration of a loop, and False for its end."""


@dataclass(slots=True, eq=False)
class _Flight:
    """An item that has begun and not ended."""

    item: Item
    taken: Taken
    registers: dict[int, Any]
    """Registers that it has by itself."""
    meeting: Meeting | None = None
    group: list[_Arrival] | None = None
    """All that meet, when all have come."""
    due: Moment = Moment.end
    total: int | None = None
    """For the end of a loop with a condition: what its queue has counted to."""


@dataclass(slots=True, eq=False)
class _Arrival:
    queue: _Queue
    flight: _Flight


@dataclass(slots=True, eq=False)
class _Frame:
    """Where a queue is in a block."""

    items: Sequence[Item]
    at: int
    loop: QueueLoop | None
    inside: frozenset[Item]
    numbers: Iterator[int] | None = None
    done: int = 0
    """Iterations."""


# ------------------------------------------------------------------ a queue


class _Queue:
    """A queue of a core: where it is, and what it holds."""

    def __init__(self, core: _Core, queue: Queue):
        self.core = core
        self.queue = queue
        self._frames = [_Frame(core.program.queues[queue], 0, None, frozenset())]
        self.flying: deque[_Flight] = deque()
        self._started: Counter[Loop] = Counter()
        """How many iterations of each loop have begun."""
        self._locals: dict[int, Any] = {}
        """Induction variables."""
        self._bounds: dict[Operation, range] = {}
        """What has been read for loops that have not begun."""
        self._heard: Counter[Loop] = Counter()
        """Of a ring: how many of a loop's `_Core.rounds` it has followed."""
        self._held: dict[Instruction, Taken] = {}
        """The stationary tiles in the array of processing elements, by what has loaded them."""
        self._kept: dict[Operation, list[tuple[Tile, Array]]] = {}
        """Computed, and not written out yet."""
        self._table = ""

    # -------------------------------------------------------------- what can happen

    @property
    def done(self) -> bool:
        """True when nothing is left to do."""
        return self._next() is None and not self.flying

    def moves(self) -> Iterator[Move]:
        """What can happen next in this queue."""
        inside = self._frames[-1].inside
        core, queue = self.core.number, self.queue
        for place, flight in enumerate(self.flying):
            moment = self._due(flight)
            if moment is not None and (place == 0 or moment is not Moment.end):
                yield Move(core, queue, flight.item, moment, inside, place)
        item = self._next()
        if item is not None and self._may_begin(item):
            yield Move(core, queue, item, Moment.begin, inside)

    def _next(self) -> Item | None:
        """The next item, or the loop that begins its next iteration."""
        frame = self._frames[-1]
        return frame.items[frame.at] if frame.at < len(frame.items) else frame.loop

    def _due(self, flight: _Flight) -> Moment | None:
        """What comes next for what has begun; None for who waits for others to meet."""
        if flight.meeting is not None and flight.group is None:
            return None
        return flight.due

    def do(self, move: Move) -> None:
        """Make a move."""
        if move.moment is Moment.begin:
            self._begin()
            return
        flight = self.flying[move.place]
        if move.moment is Moment.read:
            flight.taken = self.take(self.action(flight))
            flight.due = Moment.write
        elif move.moment is Moment.write:
            self._finish(cast(Instruction, flight.item), flight)
            flight.due = Moment.end
        else:
            self._end()

    def _may_begin(self, item: Item) -> bool:
        if self.flying and not self.queue.is_ring:
            return False
        loop = self._frames[-1].loop
        if loop is not None and item is loop:
            return not self.queue.is_ring or self._told(loop.body) is not None
        if isinstance(item, Instruction) and item.trigger is not None:
            return bool(self.core.rings.get(self.queue)) and not self._missing(item)
        return not self._missing(item)

    def _told(self, loop: Loop) -> bool | None:
        """Of a ring: whether the loop goes on, None when that is not known yet."""
        rounds = self.core.rounds.get((self.queue.starter, loop), ())
        heard = self._heard[loop]
        return rounds[heard] if heard < len(rounds) else None

    def _missing(self, item: Item) -> list[Wait]:
        """The waits of an item that are not over."""
        return [wait for wait in item.waits if not self._is_over(wait)]

    def _is_over(self, wait: Wait) -> bool:
        block = (wait.queue, wait.before.loop)
        begun = 1 if wait.before.loop is None else self._started[wait.before.loop]
        before = begun - (2 if wait.carried else 1)
        needed = before * self.core.program.signals.get(block, 0) + wait.before.signal
        return self.core.counts[block] >= needed

    def describe(self) -> str:
        """What the queue waits for."""
        item = self.flying[0].item if self.flying else self._next()
        assert item is not None
        reasons = [f"{_text(wait.before)} in {wait.queue.name}" for wait in self._missing(item)]
        if self.flying:
            reasons = ["who it meets"]
        elif isinstance(item, Instruction) and item.trigger is not None:
            reasons.append(f"{_text(item.trigger)} in {item.trigger.queue.name}")
        return (
            f"  {self.core.who}, {self.queue.name}: {_text(item)} waits for {' and '.join(reasons)}"
        )

    # -------------------------------------------------------------- beginning

    def _begin(self) -> None:
        """Begin the next item, or the next iteration of a loop."""
        frame = self._frames[-1]
        item = self._next()
        assert item is not None
        if frame.loop is not None and item is frame.loop:
            self._turn(frame, frame.loop.body)
        elif isinstance(item, QueueLoop):
            # At its end, where the next iteration begins.
            frames, inside = self._frames, frame.inside | {item}
            frames.append(_Frame(item.items, len(item.items), item, inside))
            if not self.queue.is_ring:
                numbers = self._numbers(item.body)
                frames[-1].numbers = None if numbers is None else iter(numbers)
        else:
            assert isinstance(item, Instruction)
            frame.at += 1
            self._take_off(item)

    def _take_off(self, instruction: Instruction) -> None:
        if instruction.trigger is not None:
            trigger, registers = self.core.rings[self.queue].popleft()
            if trigger is not instruction.trigger:
                raise QueueError(
                    f"{_text(instruction)} is the next in {self.queue.name}, which has been given "
                    f"what {_text(trigger)} starts"
                )
        else:
            registers = dict(self._locals)
        action = self.core.actions.of(instruction)
        flight = _Flight(instruction, {}, registers)
        self.flying.append(flight)
        if action.driver is None:
            if self.queue.is_ring:
                flight.due = Moment.read
            else:
                flight.taken = self.take(action)
            return
        # Whom it meets; what it brings is asked again when all have come.
        runner = action.driver(self.core.env)
        flight.meeting = next(runner, None)
        runner.close()

    def action(self, flight: _Flight) -> Action:
        """What an instruction that has begun does."""
        return self.core.actions.of(cast(Instruction, flight.item))

    def take(self, action: Action) -> Taken:
        """The operands of an instruction, as memory holds them now."""
        found = ((name, self.core.memory.tile(value)) for name, value in action.reads.items())
        return {name: (tile, tile.home.copy()) for name, tile in found if tile is not None}

    # -------------------------------------------------------------- loops

    def _numbers(self, loop: Loop) -> range | None:
        """The values of a loop's induction variable; None for a loop with a condition."""
        known = self._bounds.pop(loop.op, None)
        numbers = self.core.actions.control(loop.op).numbers
        if known is not None or numbers is None:
            return known
        return self._with(self._locals, numbers)

    def _turn(self, frame: _Frame, loop: Loop) -> None:
        """Begin the next iteration of a loop, or leave it."""
        if self.queue.is_ring:
            goes_on = self._told(loop)
            self._heard[loop] += 1
        elif frame.numbers is not None:
            number = next(frame.numbers, None)
            goes_on = number is not None
            self._locals[self.core.actions.control(loop.op).index] = number
            self._tell(loop, goes_on)
        else:
            first = frame.items[0]
            is_tested = (
                isinstance(first, Instruction) and first.what is What.test and first.op is loop.op
            )
            goes_on = is_tested or self._holds(loop)
            if frame.done > loop_limit():
                raise runaway(loop.op, loop_limit())
        if goes_on or isinstance(loop.op, WhileOp):
            self._started[loop] += 1
        frame.done += 1
        frame.at = 0
        if not goes_on:
            self._leave(loop)

    def _tell(self, loop: Loop, goes_on: bool) -> None:
        self.core.rounds.setdefault((self.queue, loop), []).append(goes_on)

    def _leave(self, loop: Loop) -> None:
        frame = self._frames.pop()
        assert frame.loop is not None
        flight = _Flight(frame.loop, {}, {})
        if isinstance(loop.op, WhileOp):
            block = (self.queue, loop)
            flight.total = self._started[loop] * self.core.program.signals.get(block, 0)
        self.flying.append(flight)
        self._frames[-1].at += 1

    def _test(self, instruction: Instruction) -> None:
        """Read what says how often, or whether, a loop runs."""
        numbers = self.core.actions.control(instruction.op).numbers
        if numbers is not None:
            self._bounds[instruction.op] = self._with(self._locals, numbers)
            return
        loop = self._frames[-1].loop
        assert loop is not None
        if not self._holds(loop.body):
            self._leave(loop.body)

    def _holds(self, loop: Loop) -> bool:
        """The condition of a loop."""
        condition = self.core.actions.control(loop.op).goes_on
        assert condition is not None
        goes_on = self._with(self._locals, condition)
        self._tell(loop, goes_on)
        return goes_on

    # -------------------------------------------------------------- ending

    def _end(self) -> None:
        """End what has begun first."""
        flight = self.flying.popleft()
        item = flight.item
        if isinstance(item, Instruction) and not self.queue.is_ring:
            self._finish(item, flight)
        block = (self.queue, item.loop)
        if flight.total is not None:
            assert isinstance(item, QueueLoop)
            self.core.counts[self.queue, item.body] = flight.total
        if item.signal:
            self.core.counts[block] += 1

    def _finish(self, instruction: Instruction, flight: _Flight) -> None:
        action = self.core.actions.of(instruction)
        if instruction.what is What.trigger:
            env = self.core.env
            registers = flight.registers | {
                slot: env[slot] for slot in action.registers if slot not in flight.registers
            }
            ring = self.core.actions.ring(instruction)
            self.core.rings.setdefault(ring, deque()).append((instruction, registers))
        elif instruction.what is What.load_table:
            self._table = instruction.table
        elif instruction.what is What.test:
            self._test(instruction)
        elif flight.meeting is not None:
            if flight.group:
                _settle(flight.group)
                flight.group.clear()
        elif action.step is not None:
            self._compute(instruction, action, flight)
        elif action.later:
            for tile, bits in self._kept.pop(instruction.op):
                tile.home[...] = bits
        elif instruction.stage >= 0 and flight.taken:
            self._load_stationary(instruction, flight.taken)

    def _load_stationary(self, instruction: Instruction, taken: Taken) -> None:
        self._held = {
            other: tiles
            for other, tiles in self._held.items()
            if not _share_rows(other.op, instruction.op)
        }
        self._held[instruction] = taken

    def _compute(self, instruction: Instruction, action: Action, flight: _Flight) -> None:
        self._check_engine(instruction, action)
        taken = flight.taken
        if instruction.weights is not None:
            taken = taken | self._stationary(instruction.weights, action)
        self._with(flight.registers, lambda env: self._run(instruction, action, taken, env))

    def _check_engine(self, instruction: Instruction, action: Action) -> None:
        if self.queue is Queue.scalar:
            op = instruction.op
            needed = table_of(op) if is_instruction(op) else None
            if needed is not None and needed != self._table:
                raise QueueError(
                    f"{_text(instruction)} needs the table of {needed}, the Scalar Engine has "
                    f"{self._table or 'none'}"
                )
        if self.queue is Queue.tensor and not action.ahead:
            self._held.clear()

    def _stationary(self, weights: Instruction, action: Action) -> Taken:
        held = self._held.get(weights)
        if held is None:
            raise QueueError(f"the Tensor Engine no longer holds what {_text(weights)} has loaded")
        found: Taken = {}
        for name, value in action.ahead.items():
            tile = self.core.memory.tile(value)
            if tile is not None:
                found[name] = tile, held[name][1]
        return found

    def _run(self, instruction: Instruction, action: Action, taken: Taken, env: Env) -> None:
        memory = self.core.memory
        for tile, bits in taken.values():
            tile.enter(bits)
        masks = [
            None if indirect is None else memory.selected(value, indirect)
            for value, indirect in action.writes
        ]
        assert action.step is not None
        action.step(env)
        self.tell(instruction)
        for (value, _), mask in zip(action.writes, masks, strict=True):
            tile = memory.tile(value)
            assert tile is not None
            np.copyto(tile.home, tile.own, where=True if mask is None else mask)
        later = [tile for tile in map(memory.tile, action.later) if tile is not None]
        if later:
            self._kept[instruction.op] = [(tile, tile.own.copy()) for tile in later]
        self.clear(action)

    def tell(self, instruction: Instruction) -> None:
        """Tell who listens what an NKI instruction has computed."""
        core = self.core
        if core.listener is not None:
            core.listener.did_run(instruction.op, core.plan.written_by(instruction.op, core.env))

    def clear(self, action: Action) -> None:
        """Forget the operands of an instruction where it computes."""
        for tile in map(self.core.memory.tile, action.touched):
            if tile is not None:
                tile.leave()

    def _with(self, registers: dict[int, Any], function: Callable[[Env], _T]) -> _T:
        """What a function gives while registers hold something of the queue's own."""
        env = self.core.env
        before = {slot: env[slot] for slot in registers}
        for slot, value in registers.items():
            env[slot] = value
        try:
            return function(env)
        finally:
            for slot, value in before.items():
                env[slot] = value


# ------------------------------------------------------------------ all queues of a run


class _Run:
    """The queues of all cores."""

    def __init__(self, cores: Sequence[_Core]):
        self._everyone = {core.who for core in cores}
        self._queues = {
            (core.number, queue): _Queue(core, queue)
            for core in cores
            for queue in core.program.queues
        }
        self._arrived: list[_Arrival] = []

    def run(self, interleaving: Interleaving) -> None:
        """Move until everything is done. Raises QueueError when nothing can move before."""
        queues = list(self._queues.values())
        while moves := [move for queue in queues for move in queue.moves()]:
            move = interleaving.choose(moves)
            queue = self._queues[move.core, move.queue]
            queue.do(move)
            if move.moment is Moment.begin and queue.flying:
                begun = queue.flying[-1]
                if begun.item is move.item and begun.meeting is not None:
                    self._arrive(_Arrival(queue, begun))
        stuck = [queue.describe() for queue in queues if not queue.done]
        if stuck:
            raise QueueError("\n".join(["the queues wait for each other for ever:", *stuck]))

    def _arrive(self, arrival: _Arrival) -> None:
        """Somebody has come to a meeting; when all have, what they bring is taken."""
        meeting = arrival.flight.meeting
        assert meeting is not None
        strangers = meeting.members - self._everyone
        if strangers:
            raise InterpretationError(f"{meeting.place} meets cores that this run does not have")
        self._arrived.append(arrival)
        here: dict[Core, _Arrival] = {}
        for other in self._arrived:
            theirs = other.flight.meeting
            if theirs is not None and theirs.key == meeting.key:
                who = other.queue.core.who
                if who in meeting.members:
                    here.setdefault(who, other)
        if len(here) < len(meeting.members):
            return
        group = list(here.values())
        for member in group:
            self._arrived.remove(member)
            member.flight.group = group
            member.flight.due = Moment.write if member.queue.queue.is_ring else Moment.end
            member.flight.taken = member.queue.take(member.queue.action(member.flight))


def _settle(group: Sequence[_Arrival]) -> None:
    """Let a meeting happen."""
    runners: list[Runner] = []
    here: dict[Core, Meeting] = {}
    for member in group:
        flight = member.flight
        flight.due = Moment.end
        for tile, bits in flight.taken.values():
            tile.enter(bits)
        driver = member.queue.action(flight).driver
        assert driver is not None
        runners.append(driver(member.queue.core.env))
        here[member.queue.core.who] = next(runners[-1])
    first = next(iter(here.values()))
    first.settle(here)
    for member, runner in zip(group, runners, strict=True):
        next(runner, None)
        member.queue.tell(cast(Instruction, member.flight.item))
        action = member.queue.action(member.flight)
        for value, _ in action.writes:
            tile = member.queue.core.memory.tile(value)
            if tile is not None:
                tile.home[...] = tile.own
        member.queue.clear(action)


# ------------------------------------------------------------------ what is known of instructions


def _text(item: Item) -> str:
    """An item in words."""
    if isinstance(item, Instruction):
        return f"{item.mnemonic} ({item.number}, {place_of(item.op)})"
    assert isinstance(item, QueueLoop)
    return f"loop {item.body.number}"


def _share_rows(one: Operation, two: Operation) -> bool:
    """True when the stationary tiles of two matmuls meet in the array of processing elements."""
    places = [
        [(at, at + size) for at, size in zip(place, extent, strict=True)]
        for op in (one, two)
        if isinstance(op, NcMatmulOp)
        and (place := op.value_of("tile_position"))
        and (extent := op.value_of("tile_size"))
    ]
    if len(places) < 2:
        return True
    return all(a < d and c < b for (a, b), (c, d) in zip(*places, strict=True))
