"""`from_ir`: converts an `engine.program` to a lowered program.

This recreates the kernel with the NKI instructions, ordered by number.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, Operation

from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.engine.attributes import Reason
from nkijit.dialects.engine.ops import (
    AnyLoopOp,
    IssueOp,
    ItemOp,
    LoadTableOp,
    PartOp,
    StageOp,
    TestOp,
    TriggerOp,
)
from nkijit.dialects.engine.program import ProgramOp, reasoned
from nkijit.dialects.hardware.targets import Target
from nkijit.passes.lower.engines import LOAD_TABLE, PRINT, READ_BOUNDS, TEST, TRIGGER
from nkijit.passes.lower.likeness import Likeness, like_of, unlike
from nkijit.passes.lower.placement import allocate
from nkijit.passes.lower.program import (
    EngineInstruction,
    Item,
    Loop,
    LoweringError,
    Program,
    Queue,
    QueueLoop,
    Wait,
    What,
)
from nkijit.passes.lower.raise_kernel import Raised


def from_ir(op: ProgramOp, target: Target | None = None) -> Program:
    """Convert a verified `engine.program`.

    Args:
        op: the IR; not changed, as the program gets a new kernel.
        target: the hardware; the program's target by default.

    Raises:
        LoweringError: a tile that is in use has no address.
    """
    return _Reader(op, target or op.target).read()


class _Reader:
    def __init__(self, op: ProgramOp, target: Target):
        self._op = op
        self._raised = Raised(op)
        self._contents = self._raised.contents
        self._target = target
        self._items: dict[ItemOp, Item] = {}
        self._loops: dict[int, Loop] = {}
        self._likeness = Likeness()

    def read(self) -> Program:
        kernel = self._raised.kernel
        placement = allocate(kernel, self._target)
        for live in placement.live.ranges:
            if live.alloc.fixed_address is None:
                raise LoweringError(f"a tile of {live.result.type} has no address")
        self._make_loops()
        queues = {op.queue: self._block(op.body.block, None) for op in self._op.queues}
        instructions = [
            cast(EngineInstruction, self._items[item])
            for _, item in sorted(self._contents.instructions.items())
        ]
        for item in self._items:
            self._link(item)
        blocks: dict[Loop | None, list[Item]] = {None: []}
        signals: dict[tuple[Queue, Loop | None], int] = {}
        for number, block in self._contents.blocks.items():
            loop = None if number is None else self._loops[number]
            blocks[loop] = [self._items[item] for item in block.in_order()]
            for queue, items in block.items.items():
                last = max((item.signal for item in items), default=0)
                if last:
                    signals[queue, loop] = last
        return Program(
            kernel,
            self._target,
            placement,
            queues,
            instructions,
            list(self._loops.values()),
            blocks,
            signals,
            scheduled=self._op.scheduled is not None,
        )

    def _make_loops(self) -> None:
        for number, places in sorted(self._contents.loops.items()):
            outer = self._contents.block_of(next(iter(places.values())))
            parent = None if outer is None else self._loops[outer]
            self._loops[number] = Loop(self._raised.loops[number], parent, number)

    def _block(self, block: Block, loop: Loop | None) -> list[Item]:
        found: list[Item] = []
        for op in block.ops:
            if isinstance(op, ItemOp):
                item = self._items[op] = self._item(op, loop)
                item.signal = op.signal
                found.append(item)
        return found

    def _item(self, op: ItemOp, loop: Loop | None) -> Item:
        if isinstance(op, AnyLoopOp):
            body = self._loops[op.number]
            item = body.queues[op.queue] = QueueLoop(op.queue, loop, body)
            item.items = self._block(op.body.block, body)
            return item
        if isinstance(op, TestOp):
            tested = self._raised.loops[op.of_number]
            mnemonic = READ_BOUNDS if isinstance(tested, ForOp) else TEST
            instruction = EngineInstruction(
                op.queue, loop, op.number, tested, What.test, mnemonic, ()
            )
            instruction.like = unlike(op.number)
            return instruction
        source = self._raised.ops[op.of_number if isinstance(op, PartOp) else op.number]
        instruction = _instruction(op, loop, source)
        instruction.like = like_of(self._likeness.number(source), instruction)
        return instruction

    def _link(self, op: ItemOp) -> None:
        """Add to an item its waits, its dependences and its references to other items."""
        item = self._items[op]
        block = self._contents.blocks[self._contents.block_of(op)]
        for semaphore in op.waits:
            before = block.find(semaphore)
            assert before is not None, "waits have been verified"
            item.waits.append(self._wait(op, before, semaphore.previous, semaphore.reason))
        for edge in op.edges:
            before = self._contents.item(edge)
            assert before is not None, "edges have been verified"
            item.edges.append(self._wait(op, before, edge.previous, edge.reason))
        if isinstance(op, IssueOp):
            instruction = cast(EngineInstruction, item)
            if op.weights is not None:
                loaded = self._items[self._contents.instructions[op.weights]]
                instruction.weights = cast(EngineInstruction, loaded)
            for number in self._transfers(op):
                transfer = cast(EngineInstruction, self._items[self._contents.instructions[number]])
                trigger = self._items[self._contents.triggers[op.number]]
                transfer.trigger = cast(EngineInstruction, trigger)

    def _transfers(self, op: IssueOp) -> list[int]:
        if not op.queue.is_ring:
            return []
        parts = self._contents.parts.get(op.number, ())
        return [op.number, *(part.number for part in parts if isinstance(part, StageOp))]

    def _wait(self, op: ItemOp, before: ItemOp, previous: bool, reason: Reason) -> Wait:
        value = reasoned(self._contents, op, reason)
        raised = None if value is None else self._raised.values[value]
        return Wait(self._items[before], previous, reason.kind, raised)


def _instruction(op: ItemOp, loop: Loop | None, source: Operation) -> EngineInstruction:
    """Create the engine instruction of a stage, a DMA trigger, a table load or a print."""
    queue, number = op.queue, op.number
    if isinstance(op, TriggerOp):
        return EngineInstruction(queue, loop, number, source, What.trigger, TRIGGER, ())
    if isinstance(op, LoadTableOp):
        instruction = EngineInstruction(
            queue, loop, number, source, What.load_table, LOAD_TABLE, ()
        )
        instruction.table = op.table
        return instruction
    if not is_instruction(source):
        return EngineInstruction(queue, loop, number, source, What.print, PRINT, ("tensor",))
    stages = source.SPEC.stages
    if isinstance(op, StageOp):
        place = next(i for i, stage in enumerate(stages) if stage.mnemonic == op.mnemonic)
    else:
        place = source.SPEC.main_stage
    stage = stages[place]
    what = What.transfer if queue.is_ring else What.compute
    instruction = EngineInstruction(
        queue, loop, number, source, what, stage.mnemonic, tuple(stage.operands), place
    )
    instruction.parts = 1 if stage.parts is None else stage.parts(source)
    instruction.part = op.part if isinstance(op, StageOp) else instruction.parts - 1
    return instruction
