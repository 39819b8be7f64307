"""`engine.program` and its verification: numbers, references, and waits without a cycle."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar, cast

from xdsl.dialects.arith import ConstantOp as ArithConstantOp
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, opt_prop_def, traits_def
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from nkijit.dialects.core_program import CoreProgram
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.declare.queries import engine_of
from nkijit.dialects.engine.attributes import Predecessor, Reason, Semaphore
from nkijit.dialects.engine.ops import (
    AnyLoopOp,
    IssueOp,
    ItemOp,
    LoadTableOp,
    LoopOp,
    PartOp,
    QueueOp,
    StageOp,
    TestOp,
    TriggerOp,
    named_values,
)
from nkijit.dialects.engine.queues import Queue
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import ReturnOp
from nkijit.dialects.nki.registers import RegisterOp
from nkijit.dialects.nki.views import ViewOp

DECLARED = (AllocOp, ConstantOp, RegisterOp, ViewOp, ArithConstantOp)
"""Operations that are allowed outside of queues."""

LoopNumber = int | None
"""The number of a loop, or None for the code outside of loops.

It identifies a block across all queues.
"""


@irdl_op_definition
class ProgramOp(CoreProgram):
    """A kernel as queues of engine instructions; `scheduled` when its waits and signals are set."""

    name = "engine.program"

    scheduled = opt_prop_def(UnitAttr)

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    KEYWORDS: ClassVar[tuple[str, ...]] = ("scheduled",)

    @property
    def return_op(self) -> ReturnOp:
        """The terminator, whose operands are the results."""
        return cast(ReturnOp, self.body.block.last_op)

    @property
    def queues(self) -> list[QueueOp]:
        """The queues, in textual order."""
        return [op for op in self.body.block.ops if isinstance(op, QueueOp)]

    def verify_(self) -> None:
        self.verify_signature()
        if not isinstance(self.body.block.last_op, ReturnOp):
            raise VerifyException("expected a program to end with nki.return")
        for op in self.body.block.ops:
            if not isinstance(op, (*DECLARED, QueueOp, ReturnOp)):
                raise VerifyException(f"{op.name} does not stand outside of queues")
        contents = Contents(self)
        _Verification(self, contents).run()
        for block in contents.blocks.values():
            block.in_order()


def programs_of(module: Operation) -> list[ProgramOp]:
    """The lowered programs of a module, in textual order."""
    return [op for op in module.walk() if isinstance(op, ProgramOp)]


# ------------------------------------------------------------------ contents


@dataclass
class QueuesBlock:
    """The body of a loop, or the program outside of loops, in all queues."""

    contents: Contents
    items: dict[Queue, list[ItemOp]] = field(default_factory=dict[Queue, list[ItemOp]])

    def find(self, semaphore: Semaphore) -> ItemOp | None:
        """Return the item that raises the count to a semaphore's level; None without one."""
        return self._signals(semaphore.queue).get(semaphore.level)

    def _signals(self, queue: Queue) -> dict[int, ItemOp]:
        found = self._signal_map.get(queue)
        if found is None:
            items = self.items.get(queue, ())
            found = self._signal_map[queue] = {item.signal: item for item in items if item.signal}
        return found

    _signal_map: dict[Queue, dict[int, ItemOp]] = field(
        default_factory=dict[Queue, dict[int, ItemOp]]
    )

    def awaited(self, item: ItemOp) -> Iterator[ItemOp]:
        """Yield the items that must end before an item can begin, in the same iteration."""
        for semaphore in item.waits:
            if not semaphore.previous:
                yield _there(self.find(semaphore))
        for edge in item.edges:
            if not edge.previous:
                yield _there(self.contents.item(edge))
        if isinstance(item, IssueOp) and item.queue.is_ring:
            yield self.contents.triggers[item.number]

    def in_order(self) -> list[ItemOp]:
        """Return the items of all queues in an order that satisfies all waits.

        Lower numbers come first where possible. Raises VerifyException if waits form a cycle.
        """
        items = [item for queue in self.items.values() for item in queue]
        missing: dict[ItemOp, int] = {}
        waiters: dict[ItemOp, list[ItemOp]] = {}
        for queue in self.items.values():
            for place, item in enumerate(queue):
                before = {*self.awaited(item), *queue[max(0, place - 1) : place]}
                missing[item] = len(before)
                for other in before:
                    waiters.setdefault(other, []).append(item)
        rank = {item: (self.contents.first_number(item), item.queue) for item in items}
        ready = [(rank[item], place) for place, item in enumerate(items) if not missing[item]]
        places = {item: place for place, item in enumerate(items)}
        heapq.heapify(ready)
        ordered: list[ItemOp] = []
        while ready:
            item = items[heapq.heappop(ready)[1]]
            ordered.append(item)
            for waiter in waiters.get(item, ()):
                missing[waiter] -= 1
                if not missing[waiter]:
                    heapq.heappush(ready, (rank[waiter], places[waiter]))
        if len(ordered) < len(items):
            stuck = ", ".join(sorted(_called(item) for item in items if missing[item]))
            raise VerifyException(f"these wait for each other: {stuck}")
        return ordered


class Contents:
    """The instructions, loops and blocks of a program, by number."""

    def __init__(self, program: ProgramOp):
        self.instructions: dict[int, ItemOp] = {}
        self.loops: dict[int, dict[Queue, AnyLoopOp]] = {}
        self.blocks: dict[LoopNumber, QueuesBlock] = {None: QueuesBlock(self)}
        self.triggers: dict[int, TriggerOp] = {}
        """The trigger of each DMA, by the DMA's number."""
        self.parts: dict[int, list[PartOp]] = {}
        """For each `engine.issue`, by number: the instructions that refer to it."""
        self._first: dict[int, int] = {}
        """The number of the first instruction in each loop, by the loop's number."""
        for queue in program.queues:
            self._collect(queue.queue, queue.body.block, None)

    def item(self, edge: Predecessor) -> ItemOp | None:
        """Return the item at the start of an edge; None if it does not exist."""
        if edge.queue is None:
            return self.instructions.get(edge.number)
        return self.loops.get(edge.number, {}).get(edge.queue)

    def first_number(self, item: ItemOp) -> int:
        """Return the number of an instruction, or of the first instruction in a loop."""
        return self._first.get(item.number, -1) if isinstance(item, AnyLoopOp) else item.number

    def block_of(self, item: ItemOp) -> LoopNumber:
        """Return the number of the innermost loop around an item; None outside of loops."""
        parent = item.parent_op()
        return parent.number if isinstance(parent, AnyLoopOp) else None

    def _collect(self, queue: Queue, block: Block, loop: LoopNumber) -> None:
        found = self.blocks.setdefault(loop, QueuesBlock(self)).items.setdefault(queue, [])
        for op in block.ops:
            if isinstance(op, ViewOp):
                continue
            if not isinstance(op, ItemOp):
                raise VerifyException(f"{op.name} does not stand in a queue")
            found.append(op)
            if isinstance(op, AnyLoopOp):
                self._add_loop(queue, op)
            else:
                self._add_instruction(op, loop)

    def _add_loop(self, queue: Queue, op: AnyLoopOp) -> None:
        places = self.loops.setdefault(op.number, {})
        if queue in places:
            raise VerifyException(f"loop {op.number} stands twice in {queue.name}")
        places[queue] = op
        self._collect(queue, op.body.block, op.number)

    def _add_instruction(self, op: ItemOp, loop: LoopNumber) -> None:
        number = op.number
        if number in self.instructions:
            raise VerifyException(f"there are two instructions {number}")
        self.instructions[number] = op
        parent = op.parent_op()
        while isinstance(parent, AnyLoopOp):
            self._first[parent.number] = min(number, self._first.get(parent.number, number))
            parent = parent.parent_op()
        if isinstance(op, TriggerOp):
            if op.of_number in self.triggers:
                raise VerifyException(f"instruction {op.of_number} is started twice")
            self.triggers[op.of_number] = op
        if isinstance(op, PartOp) and not isinstance(op, TestOp):
            self.parts.setdefault(op.of_number, []).append(op)


_T = TypeVar("_T")


def _there(value: _T | None) -> _T:
    assert value is not None, "references have been verified"
    return value


def _called(item: ItemOp) -> str:
    return f"{'loop ' if isinstance(item, AnyLoopOp) else ''}{item.number} in {item.queue.name}"


# ------------------------------------------------------------------ verification


class _Verification:
    def __init__(self, program: ProgramOp, contents: Contents):
        self._program = program
        self._contents = contents
        self._target: Target = program.target
        self._values: dict[Operation, dict[str, SSAValue]] = {}

    def run(self) -> None:
        """Verify the program. Raises VerifyException for the first error."""
        queues = [op.queue for op in self._program.queues]
        for queue in queues:
            if queues.count(queue) > 1:
                raise VerifyException(f"there are two queues {queue.name}")
        for number in range(len(self._contents.instructions)):
            if number not in self._contents.instructions:
                raise VerifyException(f"there is no instruction {number}; numbers begin at 0")
        for number, places in self._contents.loops.items():
            self._loop(number, places)
        for op in self._contents.instructions.values():
            self._check(self._wrong_instruction(op), op)
        for block in self._contents.blocks.values():
            for items in block.items.values():
                self._signals(items)
        for number, block in self._contents.blocks.items():
            for items in block.items.values():
                for item in items:
                    self._check(self._wrong_wait(item, number, block), item)

    def _check(self, wrong: str | None, item: ItemOp) -> None:
        if wrong is not None:
            raise VerifyException(f"{_called(item)} {wrong}")

    def _loop(self, number: int, places: dict[Queue, AnyLoopOp]) -> None:
        heads = {(type(op), self._contents.block_of(op), *map(_bound, op.operands)) for op in
                 places.values()}  # fmt: skip
        if len(heads) > 1:
            raise VerifyException(f"loop {number} is not the same in all queues")
        for op in places.values():
            if not any(isinstance(inner, ItemOp) for inner in op.body.block.ops):
                raise VerifyException(f"loop {number} has no instructions in {op.queue.name}")

    def _signals(self, items: Sequence[ItemOp]) -> None:
        count = 0
        for item in items:
            if item.signal_attr is not None:
                count += 1
                if item.signal != count:
                    raise VerifyException(
                        f"{_called(item)} signals {item.signal}, its queue counts to {count} there"
                    )

    # ---------------------------------------------------------------- instructions

    def _wrong_instruction(self, op: ItemOp) -> str | None:
        if isinstance(op, IssueOp):
            return self._wrong_issue(op)
        assert isinstance(op, PartOp)
        if isinstance(op, TestOp):
            return self._wrong_test(op)
        whole = self._contents.instructions.get(op.of_number)
        if not isinstance(whole, IssueOp):
            return f"belongs to {op.of_number}, which issues no instruction"
        if isinstance(op, TriggerOp):
            if op.queue.is_ring:
                return "starts a DMA from a ring"
            if not whole.queue.is_ring:
                return f"starts {whole.number}, which is no DMA"
            if self._contents.block_of(op) != self._contents.block_of(whole):
                return f"starts {whole.number} in another loop"
            return None
        if op.queue is not whole.queue:
            return f"belongs to {whole.number} in another queue"
        if isinstance(op, LoadTableOp):
            return None
        assert isinstance(op, StageOp)
        return self._wrong_stage(op, whole)

    def _wrong_stage(self, op: StageOp, whole: IssueOp) -> str | None:
        payload = whole.payload
        stages = payload.SPEC.stages if is_instruction(payload) else ()
        stage = next((stage for stage in stages if stage.mnemonic == op.mnemonic), None)
        if stage is None or not is_instruction(payload):
            known = ", ".join(stage.mnemonic for stage in stages)
            return f"is {op.mnemonic} of {payload.name}, which has {known or 'no stages'}"
        if not payload.runs(stage):
            return f"is {op.mnemonic} of {payload.name} without {stage.when}"
        parts = 1 if stage.parts is None else stage.parts(payload)
        if op.part >= parts:
            return f"is part {op.part} of {parts}"
        return None

    def _wrong_issue(self, op: IssueOp) -> str | None:
        payload, queue = op.payload, op.queue
        if is_instruction(payload):
            runs_on = engine_of(payload, self._target)
            if runs_on is engine.dma:
                if not queue.is_ring:
                    return f"is {payload.name}, a DMA, which runs in a ring"
                if op.number not in self._contents.triggers:
                    return "is a DMA that nothing starts"
            elif queue is not Queue.of_engine(runs_on):
                return f"is {payload.name}, which runs on the {runs_on.name} engine"
        elif queue is not Queue.sync:
            return f"is {payload.name}, which runs in sync"
        if op.weights is not None:
            load = self._contents.instructions.get(op.weights)
            if not isinstance(load, StageOp) or load.queue is not queue:
                return f"uses the weights of {op.weights}, which loads none"
        return None

    def _wrong_test(self, op: TestOp) -> str | None:
        places = self._contents.loops.get(op.of_number)
        if places is None or op.queue not in places:
            return f"is about loop {op.of_number}, which is not in its queue"
        loop = places[op.queue]
        block = self._contents.block_of(loop) if isinstance(loop, LoopOp) else loop.number
        if self._contents.block_of(op) != block:
            return f"is not {'in front of' if isinstance(loop, LoopOp) else 'inside'} its loop"
        return None

    # ---------------------------------------------------------------- waits

    def _wrong_wait(self, item: ItemOp, number: LoopNumber, block: QueuesBlock) -> str | None:
        if self._program.scheduled is None:
            if item.waits or item.signal_attr is not None:
                return "has waits or signals, and the program is not scheduled"
        elif item.edges:
            return "has edges, and the program is scheduled"
        for edge in item.edges:
            wrong = self._wrong_edge(item, number, edge)
            if wrong is not None:
                return wrong
        for semaphore in item.waits:
            queue, level = semaphore.queue, semaphore.level
            if queue is item.queue:
                return "waits for its own queue"
            if semaphore.previous and number is None:
                return "waits for a previous iteration and is in no loop"
            if block.find(semaphore) is None:
                return f"waits for {queue.name}>={level}, which does not count to that there"
            wrong = self._wrong_reason(item, semaphore.reason)
            if wrong is not None:
                return wrong
        return None

    def _wrong_edge(self, item: ItemOp, number: LoopNumber, edge: Predecessor) -> str | None:
        before = self._contents.item(edge)
        called = str(edge.number) if edge.queue is None else (
            f"loop {edge.number} in {edge.queue.name}"
        )  # fmt: skip
        if before is None:
            return f"waits for {called}, which does not exist"
        if before.queue is item.queue:
            return f"waits for {called} of its own queue"
        if self._contents.block_of(before) != number:
            return f"waits for {called} in another loop"
        if edge.previous and number is None:
            return "waits for a previous iteration and is in no loop"
        return self._wrong_reason(item, edge.reason)

    def _wrong_reason(self, item: ItemOp, reason: Reason) -> str | None:
        if reason.operand is None:
            return None
        if reasoned(self._contents, item, reason) is None:
            return f"waits because of {reason.operand}, which is no operand"
        return None


def reasoned(contents: Contents, item: ItemOp, reason: Reason) -> SSAValue | None:
    """Return the value that is the reason for a wait; None when there is no such operand."""
    if reason.operand is None:
        return None
    about = item if reason.of is None else contents.instructions.get(reason.of)
    if isinstance(about, TestOp):
        about = contents.loops[about.of_number][about.queue]
    elif isinstance(about, PartOp):
        about = contents.instructions.get(about.of_number)
    if isinstance(about, IssueOp):
        about = about.payload
    return None if about is None else named_values(about).get(reason.operand)


def _bound(value: SSAValue) -> object:
    """Return a key of a loop bound that is equal in all queues, also for induction variables."""
    owner = value.owner
    loop = owner.parent_op() if isinstance(owner, Block) else None
    return ("loop", loop.number) if isinstance(loop, LoopOp) else value
