"""The state of a core's queue during a run: its position, its possible moves and their effects.

`run.py` describes the model.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np
from xdsl.dialects.scf import WhileOp
from xdsl.ir import Operation

from nkijit.dialects.costs.engines import table_of
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.nisa.matmul import NcMatmulOp
from nkijit.passes.interpret.plan.plan import Listener, Plan
from nkijit.passes.interpret.queues.actions import Action, Actions, Name
from nkijit.passes.interpret.queues.flat import Memory, MemoryTile
from nkijit.passes.interpret.queues.interleavings import Moment, Move
from nkijit.passes.interpret.records.environment import Array, Env
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.interpret.records.machine import Core, Meeting, Runner, place_of
from nkijit.passes.interpret.steps.body import loop_limit, runaway, too_many
from nkijit.passes.lower.program import (
    EngineInstruction,
    Item,
    Loop,
    Program,
    Queue,
    QueueLoop,
    Wait,
    What,
    walk,
)

_T = TypeVar("_T")


class QueueError(InterpretationError):
    """The queues of a lowered kernel cannot run as specified: the lowering is wrong."""


# ------------------------------------------------------------------ the state of a core

OperandBits = dict[Name, tuple[MemoryTile, Array]]
"""For each operand, its tile and the bits that memory held when the operand was read."""


@dataclass(slots=True, eq=False)
class CoreState:
    """The state that the queues of a core share."""

    number: int
    where: Core
    program: Program
    plan: Plan
    actions: Actions
    env: Env
    """The environment in which instructions compute."""
    homes: Env
    """The environment that holds the run's HBM tensors."""
    memory: Memory
    listener: Listener | None
    counts: Counter[tuple[Queue, Loop | None]] = field(
        default_factory=Counter[tuple[Queue, "Loop | None"]]
    )
    """The number of signals of each queue in each block (the kernel's body or a loop)."""
    rings: dict[Queue, deque[tuple[EngineInstruction, dict[int, Any]]]] = field(
        default_factory=dict[Queue, "deque[tuple[EngineInstruction, dict[int, Any]]]"]
    )
    """For each ring, the pending triggers, each with the register values that its DMA uses."""
    rounds: dict[tuple[Queue, Loop], list[bool]] = field(
        default_factory=dict[tuple[Queue, Loop], list[bool]]
    )
    """For each engine queue and loop, the results of loop tests: True per iteration, then False."""


@dataclass(slots=True, eq=False)
class Flight:
    """An item that has begun and not ended."""

    item: Item
    operands: OperandBits
    registers: dict[int, Any]
    """The values of the registers that are private to the queue or to the transfer."""
    meeting: Meeting | None = None
    group: list[Arrival] | None = None
    """The arrivals of all cores at `meeting`; None until all cores have arrived."""
    due: Moment = Moment.end
    """The next phase (`Moment`) of the item."""
    total: int | None = None
    """For the end of a conditional loop, the signal count of the loop's queue."""


@dataclass(slots=True, eq=False)
class Arrival:
    """An instruction that waits for other cores, at a `Meeting`."""

    queue: Sequencer
    flight: Flight


@dataclass(slots=True, eq=False)
class _Frame:
    """The position of a queue in a block."""

    items: Sequence[Item]
    at: int
    loop: QueueLoop | None
    inside: frozenset[Item]
    numbers: Iterator[int] | None = None
    done: int = 0
    """The number of iterations that have begun."""


# ------------------------------------------------------------------ a queue


class Sequencer:
    """The state of one queue of a core in a run."""

    def __init__(self, core: CoreState, queue: Queue):
        self.core = core
        self.queue = queue
        self._frames = [_Frame(core.program.queues[queue], 0, None, frozenset())]
        self.in_flight: deque[Flight] = deque()
        self._started: Counter[Loop] = Counter()
        """For each loop, the number of iterations that have begun."""
        self._turns = 0
        """The number of iterations of all loops; counted in engine queues only."""
        self._locals: dict[int, Any] = {}
        """The values of induction variables, by slot of the environment."""
        self._bounds: dict[Operation, range] = {}
        """The iteration ranges of loops that have been tested but have not begun."""
        self._followed: Counter[Loop] = Counter()
        """For each loop in a ring, the number of tests in `CoreState.rounds` that were used."""
        self._leaders = _leaders(core.program, queue) if queue.is_ring else {}
        self._held: dict[EngineInstruction, OperandBits] = {}
        """The stationary tiles in the PE array, by the instruction that loaded each."""
        self._pending: dict[Operation, list[tuple[MemoryTile, Array]]] = {}
        """The results that have been computed but not written to memory, by operation."""
        self._table = ""

    # -------------------------------------------------------------- moves

    @property
    def done(self) -> bool:
        """True if the queue is empty and nothing is in flight."""
        return self._next() is None and not self.in_flight

    def moves(self) -> Iterator[Move]:
        """Yield the moves (see `Move`) that this queue can make."""
        inside = self._frames[-1].inside
        core, queue = self.core.number, self.queue
        for place, flight in enumerate(self.in_flight):
            moment = self._due(flight)
            if moment is not None and (place == 0 or moment is not Moment.end):
                yield Move(core, queue, flight.item, moment, inside, place)
        item = self._next()
        if item is not None and self._may_begin(item):
            yield Move(core, queue, item, Moment.begin, inside)

    def _next(self) -> Item | None:
        """Return the next item, or the loop whose next iteration begins."""
        frame = self._frames[-1]
        return frame.items[frame.at] if frame.at < len(frame.items) else frame.loop

    def _due(self, flight: Flight) -> Moment | None:
        """Return the next phase of an item in flight; None while it waits at a `Meeting`."""
        if flight.meeting is not None and flight.group is None:
            return None
        return flight.due

    def do(self, move: Move) -> None:
        """Make a move: perform the next phase of an instruction or loop."""
        if move.moment is Moment.begin:
            self._begin()
            return
        flight = self.in_flight[move.place]
        if move.moment is Moment.read:
            flight.operands = self.take(self.action(flight))
            flight.due = Moment.write
        elif move.moment is Moment.write:
            self._finish(cast(EngineInstruction, flight.item), flight)
            flight.due = Moment.end
        else:
            self._end()

    def _may_begin(self, item: Item) -> bool:
        if self.in_flight and not self.queue.is_ring:
            return False
        loop = self._frames[-1].loop
        if loop is not None and item is loop:
            return not self.queue.is_ring or self._answer(loop.body) is not None
        if isinstance(item, EngineInstruction) and item.trigger is not None:
            return bool(self.core.rings.get(self.queue)) and not self._unsatisfied(item)
        return not self._unsatisfied(item)

    def _answer(self, loop: Loop) -> bool | None:
        """In a ring, return whether the loop runs another iteration; None if not tested yet."""
        rounds = self.core.rounds.get((self._leaders[loop], loop), ())
        followed = self._followed[loop]
        return rounds[followed] if followed < len(rounds) else None

    def _unsatisfied(self, item: Item) -> list[Wait]:
        return [wait for wait in item.waits if not self._is_over(wait)]

    def _is_over(self, wait: Wait) -> bool:
        block = (wait.queue, wait.before.loop)
        begun = 1 if wait.before.loop is None else self._started[wait.before.loop]
        before = begun - (2 if wait.carried else 1)
        needed = before * self.core.program.signals.get(block, 0) + wait.before.signal
        return self.core.counts[block] >= needed

    def describe(self) -> str:
        """Return a text about the items for which the queue waits."""
        item = self.in_flight[0].item if self.in_flight else self._next()
        assert item is not None
        reasons = [f"{_text(wait.before)} in {wait.queue.name}" for wait in self._unsatisfied(item)]
        if self.in_flight:
            reasons = ["who it meets"]
        elif isinstance(item, EngineInstruction) and item.trigger is not None:
            reasons.append(f"{_text(item.trigger)} in {item.trigger.queue.name}")
        return (
            f"  {self.core.where}, {self.queue.name}: {_text(item)} waits for "
            f"{' and '.join(reasons)}"
        )

    # -------------------------------------------------------------- beginning

    def _begin(self) -> None:
        frame = self._frames[-1]
        item = self._next()
        assert item is not None
        if frame.loop is not None and item is frame.loop:
            self._turn(frame, frame.loop.body)
        elif isinstance(item, QueueLoop):
            # The frame starts at the end of the items, where the next iteration begins.
            frames, inside = self._frames, frame.inside | {item}
            frames.append(_Frame(item.items, len(item.items), item, inside))
            if not self.queue.is_ring:
                numbers = self._numbers(item.body)
                frames[-1].numbers = None if numbers is None else iter(numbers)
        else:
            assert isinstance(item, EngineInstruction)
            frame.at += 1
            self._issue(item)

    def _issue(self, instruction: EngineInstruction) -> None:
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
        flight = Flight(instruction, {}, registers)
        self.in_flight.append(flight)
        if action.driver is None:
            if self.queue.is_ring:
                flight.due = Moment.read
            else:
                flight.operands = self.take(action)
            return
        # Get the members of the meeting. Operands are read again when all have arrived.
        runner = action.driver(self.core.env)
        flight.meeting = next(runner, None)
        runner.close()

    def action(self, flight: Flight) -> Action:
        """Return the action of an instruction in flight."""
        return self.core.actions.of(cast(EngineInstruction, flight.item))

    def take(self, action: Action) -> OperandBits:
        """Return the operands that an action reads, with their current bits in memory."""
        found = ((name, self.core.memory.tile(value)) for name, value in action.reads.items())
        return {name: (tile, tile.home.copy()) for name, tile in found if tile is not None}

    # -------------------------------------------------------------- loops

    def _numbers(self, loop: Loop) -> range | None:
        """Return the values of a loop's induction variable; None for a conditional loop."""
        known = self._bounds.pop(loop.op, None)
        numbers = self.core.actions.control(loop.op).numbers
        if known is not None or numbers is None:
            return known
        return self._with(self._locals, numbers)

    def _turn(self, frame: _Frame, loop: Loop) -> None:
        """Begin the next iteration of a loop, or leave the loop."""
        if self.queue.is_ring:
            continues = self._answer(loop)
            self._followed[loop] += 1
        elif frame.numbers is not None:
            number = next(frame.numbers, None)
            continues = number is not None
            self._locals[self.core.actions.control(loop.op).index] = number
            self._announce(loop, continues)
        else:
            first = frame.items[0]
            is_tested = (
                isinstance(first, EngineInstruction)
                and first.what is What.test
                and first.op is loop.op
            )
            continues = is_tested or self._holds(loop)
            if frame.done > loop_limit():
                raise runaway(loop.op, loop_limit())
        if continues and not self.queue.is_ring:
            self._turns += 1
            if self._turns > loop_limit():
                raise too_many(loop.op, loop_limit())
        if continues or isinstance(loop.op, WhileOp):
            self._started[loop] += 1
        frame.done += 1
        frame.at = 0
        if not continues:
            self._leave(loop)

    def _announce(self, loop: Loop, continues: bool) -> None:
        self.core.rounds.setdefault((self.queue, loop), []).append(continues)

    def _leave(self, loop: Loop) -> None:
        frame = self._frames.pop()
        assert frame.loop is not None
        flight = Flight(frame.loop, {}, {})
        if isinstance(loop.op, WhileOp):
            block = (self.queue, loop)
            flight.total = self._started[loop] * self.core.program.signals.get(block, 0)
        self.in_flight.append(flight)
        self._frames[-1].at += 1

    def _test(self, instruction: EngineInstruction) -> None:
        """Read the bounds, or evaluate the condition, of a loop."""
        numbers = self.core.actions.control(instruction.op).numbers
        if numbers is not None:
            self._bounds[instruction.op] = self._with(self._locals, numbers)
            return
        loop = self._frames[-1].loop
        assert loop is not None
        if not self._holds(loop.body):
            self._leave(loop.body)

    def _holds(self, loop: Loop) -> bool:
        condition = self.core.actions.control(loop.op).continues
        assert condition is not None
        continues = self._with(self._locals, condition)
        self._announce(loop, continues)
        return continues

    # -------------------------------------------------------------- ending

    def _end(self) -> None:
        flight = self.in_flight.popleft()
        item = flight.item
        if isinstance(item, EngineInstruction) and not self.queue.is_ring:
            self._finish(item, flight)
        block = (self.queue, item.loop)
        if flight.total is not None:
            assert isinstance(item, QueueLoop)
            self.core.counts[self.queue, item.body] = flight.total
        if item.signal:
            self.core.counts[block] += 1

    def _finish(self, instruction: EngineInstruction, flight: Flight) -> None:
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
                settle(flight.group)
                flight.group.clear()
        elif action.step is not None:
            self._compute(instruction, action, flight)
        elif action.later:
            for tile, bits in self._pending.pop(instruction.op):
                tile.home[...] = bits
        elif action.loads:
            self._load_stationary(instruction, flight.operands)

    def _load_stationary(self, instruction: EngineInstruction, operands: OperandBits) -> None:
        self._held = {
            other: tiles
            for other, tiles in self._held.items()
            if not _share_rows(other.op, instruction.op)
        }
        self._held[instruction] = operands

    def _compute(self, instruction: EngineInstruction, action: Action, flight: Flight) -> None:
        self._check_engine(instruction, action)
        operands = flight.operands
        if instruction.weights is not None:
            operands = operands | self._stationary(instruction.weights, action)
        self._with(flight.registers, lambda env: self._run(instruction, action, operands, env))

    def _check_engine(self, instruction: EngineInstruction, action: Action) -> None:
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

    def _stationary(self, weights: EngineInstruction, action: Action) -> OperandBits:
        held = self._held.get(weights)
        if held is None:
            raise QueueError(f"the Tensor Engine no longer holds what {_text(weights)} has loaded")
        found: OperandBits = {}
        for name, value in action.ahead.items():
            tile = self.core.memory.tile(value)
            if tile is not None:
                found[name] = tile, held[name][1]
        return found

    def _run(
        self, instruction: EngineInstruction, action: Action, operands: OperandBits, env: Env
    ) -> None:
        memory = self.core.memory
        for tile, bits in operands.values():
            tile.enter(bits)
        masks = [
            None if indirect is None else memory.selected(value, indirect)
            for value, indirect in action.writes
        ]
        assert action.step is not None
        action.step(env)
        self.notify(instruction)
        for (value, _), mask in zip(action.writes, masks, strict=True):
            tile = memory.tile(value)
            assert tile is not None
            np.copyto(tile.home, tile.own, where=True if mask is None else mask)
        later = [tile for tile in map(memory.tile, action.later) if tile is not None]
        if later:
            self._pending[instruction.op] = [(tile, tile.own.copy()) for tile in later]
        self.clear(action)

    def notify(self, instruction: EngineInstruction) -> None:
        """Pass the results of an NKI instruction to the listener."""
        core = self.core
        if core.listener is not None:
            core.listener.did_run(instruction.op, core.plan.written_by(instruction.op, core.env))

    def clear(self, action: Action) -> None:
        """Overwrite an action's operands in `env` with the pattern of unwritten memory."""
        for tile in map(self.core.memory.tile, action.touched):
            if tile is not None:
                tile.leave()

    def _with(self, registers: dict[int, Any], function: Callable[[Env], _T]) -> _T:
        """Call a function with the environment, in which `registers` are set during the call."""
        env = self.core.env
        before = {slot: env[slot] for slot in registers}
        for slot, value in registers.items():
            env[slot] = value
        try:
            return function(env)
        finally:
            for slot, value in before.items():
                env[slot] = value


def settle(group: Sequence[Arrival]) -> None:
    """Run the instructions of a `Meeting` at which all cores have arrived."""
    runners: list[Runner] = []
    here: dict[Core, Meeting] = {}
    for member in group:
        flight = member.flight
        flight.due = Moment.end
        for tile, bits in flight.operands.values():
            tile.enter(bits)
        driver = member.queue.action(flight).driver
        assert driver is not None
        runners.append(driver(member.queue.core.env))
        here[member.queue.core.where] = next(runners[-1])
    first = next(iter(here.values()))
    first.settle(here)
    for member, runner in zip(group, runners, strict=True):
        next(runner, None)
        member.queue.notify(cast(EngineInstruction, member.flight.item))
        action = member.queue.action(member.flight)
        for value, _ in action.writes:
            tile = member.queue.core.memory.tile(value)
            if tile is not None:
                tile.home[...] = tile.own
        member.queue.clear(action)


# ------------------------------------------------------------------ properties of instructions


def _text(item: Item) -> str:
    if isinstance(item, EngineInstruction):
        return f"{item.mnemonic} ({item.number}, {place_of(item.op)})"
    assert isinstance(item, QueueLoop)
    return f"loop {item.body.number}"


def _leaders(program: Program, ring: Queue) -> dict[Loop, Queue]:
    """Return, for each loop of a ring, a queue that triggers the ring's transfers in the loop."""
    leaders: dict[Loop, Queue] = {}
    for loop in program.loops:
        if ring in loop.queues:
            leaders[loop] = next(
                item.trigger.queue
                for item in walk(loop.queues[ring].items)
                if isinstance(item, EngineInstruction) and item.trigger is not None
            )
    return leaders


def _share_rows(one: Operation, two: Operation) -> bool:
    """True if the stationary tiles of two matmuls overlap in the PE array."""
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
