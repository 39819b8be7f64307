"""`lower-to-engines`: lowers NKI instructions to the engine instructions that the hardware runs.

- A matmul is a load of its stationary tile and a multiplication. The load is omitted if the PE
  array still holds the tile.
- Reading accumulators out is an instruction of its own.
- An activation function needs its table, which is loaded first if another table is resident. If a
  loop needs only one table, the load is before the loop.
- A DMA is a trigger and a transfer.

The engine is the author's choice, or the documented default.

The walk is in program order, and `waiting.py` collects the dependences of every engine instruction.
A loop is walked twice to find dependences on the previous iteration. In its second iteration,
nested loops are walked once: their own carried dependences are known from the first iteration, and
two walks per loop would take time exponential in the depth of nesting.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.declare.rules.pe_array import LOAD_STATIONARY, MULTIPLY_MOVING
from nkijit.dialects.effects import Effect, effects, registers_written
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.allocation import DECLARATIONS
from nkijit.dialects.nki.kernel import DevicePrintOp, KernelOp, NoReorderOp
from nkijit.dialects.nki.loops import bounds_of, compared
from nkijit.dialects.nki.registers import ReadRegisterOp
from nkijit.dialects.nki.views import index_of
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.walks import directly_in
from nkijit.passes.lower.forms import LoweredForm, LoweredForms
from nkijit.passes.lower.likeness import like_of, unlike
from nkijit.passes.lower.needs import Needs
from nkijit.passes.lower.placement import allocate
from nkijit.passes.lower.program import (
    EngineInstruction,
    Item,
    Loop,
    LoweringError,
    Placement,
    Program,
    Queue,
    QueueLoop,
    What,
)
from nkijit.passes.lower.stationary import Array
from nkijit.passes.lower.waiting import Waiting

READ_BOUNDS = "READ_BOUNDS"
"""The mnemonic of the instruction that reads the bounds of a loop from registers, in each queue."""
TEST = "TEST"
"""The mnemonic of the test of a loop's condition."""
TRIGGER = "DMA_TRIGGER"
LOAD_TABLE = "LOAD_TABLE"
PRINT = "PRINT"
_WITHOUT_REGISTERS = (What.transfer, What.load_table)
"""Engine instructions that read no registers; a DMA's trigger reads its registers."""


def lower_to_engines(
    kernel: KernelOp,
    target: Target | None = None,
    placement: Placement | None = None,
    origins: Mapping[Operation, Operation] | None = None,
) -> Program:
    """Lower a kernel to the engine instructions of one core, with all their dependences.

    Waits and signals are added by `schedule`.

    Args:
        kernel: a verified kernel.
        target: the hardware; the kernel's target by default.
        placement: the addresses of the kernel's tiles; `allocate(kernel)` by default.
        origins: if the kernel is a changed copy, the original of each of its operations.

    Raises:
        LoweringError: the kernel uses something that is not modelled.
    """
    target = target or kernel.target
    placement = placement or allocate(kernel, target)
    lowering = _Lowering(target, placement)
    lowering.block(kernel.body.block, None)
    return Program(
        kernel,
        target,
        placement,
        lowering.queues,
        lowering.instructions,
        lowering.loops,
        lowering.blocks,
        origins=dict(origins or {}),
    )


class _Lowering:
    def __init__(self, target: Target, placement: Placement):
        self.queues: dict[Queue, list[Item]] = {}
        self.instructions: list[EngineInstruction] = []
        self.loops: list[Loop] = []
        self.blocks: dict[Loop | None, list[Item]] = {None: []}
        self._waiting = Waiting(placement)
        self._forms = LoweredForms(target)
        self._needs = Needs(self._forms)
        self._named: dict[str, int] = {}
        """The last event of each named instruction, by name."""
        self._reads: dict[ReadRegisterOp, int | None] = {}
        """For each read of a register as a loop bound, the last event that wrote the register."""
        self._lowered: dict[Operation, list[EngineInstruction]] = {}
        """The engine instructions of each operation in a loop, for the second walk of the loop."""
        self._loop_of: dict[Operation, Loop] = {}
        self._resident: str | None = None
        """The activation table that is certainly loaded in the Scalar Engine."""
        self._array = Array()

    # ---------------------------------------------------------------- blocks

    def block(self, block: Block, loop: Loop | None) -> None:
        # Exact classes: `isinstance` on xDSL's classes is slow when the answer is no.
        for op in directly_in(block):
            kind = type(op)
            if kind in DECLARATIONS:
                continue
            if is_instruction(op):
                self._instruction(op, loop)
            elif kind is NoReorderOp:
                self.block(cast(NoReorderOp, op).body.block, loop)
            elif kind is ForOp or kind is WhileOp:
                self._loop(cast(ForOp | WhileOp, op), loop)
            elif kind is DevicePrintOp:
                self._print(cast(DevicePrintOp, op), loop)
            elif kind is ReadRegisterOp:
                self._read(cast(ReadRegisterOp, op))
            elif op.regions:
                raise LoweringError.at(op, "lowering does not know the operation")

    def _loop(self, op: ForOp | WhileOp, parent: Loop | None) -> None:
        if isinstance(op, WhileOp) and any(map(is_instruction, op.before_region.block.ops)):
            raise LoweringError.at(op, "the condition of a loop has no instructions")
        loop = self._loop_of.get(op)
        first = loop is None
        if loop is None:
            loop = self._loop_of[op] = Loop(op, parent, len(self.loops))
            self.loops.append(loop)
            self.blocks[loop] = []
            self._waiting.add_loop(loop)
            self._hoist_table(op, parent)
        needs = self._needs.of(op)
        if isinstance(op, ForOp):
            self._test(op, READ_BOUNDS, parent, needs.queues, bounds_of(op))
        if first:
            for queue in needs.queues:
                inside = loop.queues[queue] = QueueLoop(queue, parent, loop)
                self._append(inside)
        for second in (False,) if self._waiting.walks_again else (False, True):
            self._iteration(op, loop, second=second)
        if isinstance(op, WhileOp):
            # The condition is tested once more than the body runs.
            self._waiting.begin_iteration(second=True)
            self._test(op, TEST, loop, needs.queues, compared(op) or ())
            self._waiting.end_iteration()
        self._array.forget()
        if len(needs.tables) > 1:
            # The loop may have run zero times, or ended with any of its tables.
            self._resident = None

    def _iteration(self, op: ForOp | WhileOp, loop: Loop, *, second: bool) -> None:
        self._waiting.begin_iteration(second=second)
        self._array.forget()
        if isinstance(op, WhileOp):
            self._test(op, TEST, loop, self._needs.of(op).queues, compared(op) or ())
            self.block(op.after_region.block, loop)
        else:
            self.block(op.body.block, loop)
        self._waiting.end_iteration()

    def _hoist_table(self, op: ForOp | WhileOp, parent: Loop | None) -> None:
        """Load the activation table of a loop before the loop, if the loop needs only one table."""
        needed = self._needs.of(op).tables
        if len(needed) == 1:
            ((table, user),) = needed.items()
            if self._resident != table:
                self._resident = table
                load = EngineInstruction(
                    Queue.scalar, parent, -1, user, What.load_table, LOAD_TABLE, ()
                )
                load.table = table
                self._add(load)
        elif needed:
            self._resident = None

    def _read(self, op: ReadRegisterOp) -> None:
        """Record a register that bounds a loop; queues read it on reaching the loop."""
        if any(not isinstance(use.operation, (ForOp, CmpiOp)) for use in op.result.uses):
            raise LoweringError.at(op, "is for the bounds of loops; instructions take registers")
        self._reads[op] = self._waiting.writer_of(op.source)

    def _test(
        self,
        op: ForOp | WhileOp,
        mnemonic: str,
        loop: Loop | None,
        queues: Sequence[Queue],
        values: Iterable[SSAValue],
    ) -> None:
        """Add to each queue of a loop an instruction that reads the loop's control registers."""
        reads = [read for value in values if isinstance(read := value.owner, ReadRegisterOp)]
        if not reads:
            return
        for read in reads:
            if read in self._reads and self._reads[read] != self._waiting.writer_of(read.source):
                raise LoweringError.at(
                    op, "a register that bounds the loop is written after it was read"
                )
        registers = [read.source for read in reads]
        lowered = self._lowered.get(op)
        if lowered is None:
            lowered = [
                self._add(EngineInstruction(queue, loop, -1, op, What.test, mnemonic, ()))
                for queue in queues
                if not queue.is_ring
            ]
            self._lowered[op] = lowered
        for instruction in lowered:
            self._waiting.event(instruction, ())
            self._waiting.read_registers(instruction, registers)

    def _print(self, op: DevicePrintOp, loop: Loop | None) -> None:
        lowered = self._lowered.get(op)
        if lowered is None:
            lowered = [
                self._add(
                    EngineInstruction(Queue.sync, loop, -1, op, What.print, PRINT, ("tensor",))
                )
            ]
            self._lowered[op] = lowered
        self._waiting.event(lowered[0], effects(op))

    # ---------------------------------------------------------------- instructions

    def _instruction(self, op: NisaOp, loop: Loop | None) -> None:
        form = self._forms.of(op)
        done = effects(op)
        if form.meets:
            # After a meeting, the other cores have finished their accesses to the tensor.
            done = [Effect(name, value, Role.update, True) for name, value, _, _ in done]
        lowered = self._lowered.get(op) if loop is not None else None
        if lowered is None:
            lowered = self._lower(op, form, loop)
            if loop is not None:
                self._lowered[op] = lowered
        properties = op.properties
        for name in op.runs_after if "after" in properties else ():
            before = self._named.get(name)
            if before is None:
                raise LoweringError.at(op, f"runs after '{name}', which is further down")
            first = next(i for i in lowered if i.what is not What.load_table)
            self._waiting.edge(before, first, None, None)
        several = len(form.stages) > 1
        reads_registers = form.indexed or form.registers
        registers = self._registers_of(op, form, done) if reads_registers else ()
        event = self._waiting.event
        for instruction in lowered:
            if instruction.stage < 0:
                # It triggers a DMA or loads a table.
                event(instruction, ())
            elif several:
                stage = instruction.operands
                event(instruction, [e for e in done if e.touched.operand in stage])
            else:
                event(instruction, done)
            if registers and instruction.what not in _WITHOUT_REGISTERS:
                self._waiting.read_registers(instruction, registers)
        if form.writes_registers:
            self._waiting.write_registers(lowered[-1], registers_written(op))
        if "name" in properties:
            self._named[op.label] = self._waiting.last
        if form.queue is Queue.tensor:
            self._array.note(done)
        else:
            self._array.note_writes(done)

    def _lower(self, op: NisaOp, form: LoweredForm, loop: Loop | None) -> list[EngineInstruction]:
        queue, number = form.queue, form.number
        lowered: list[EngineInstruction] = []
        if form.table is not None and form.table != self._resident:
            self._resident = form.table
            load = EngineInstruction(queue, loop, -1, op, What.load_table, LOAD_TABLE, ())
            load.table = form.table
            lowered.append(self._add(load, number))
        trigger: EngineInstruction | None = None
        what = What.compute
        if form.trigger is not None:
            what = What.transfer
            trigger = EngineInstruction(form.trigger, loop, -1, op, What.trigger, TRIGGER, ())
            lowered.append(self._add(trigger, number))
        for place, stage in form.stages:
            mnemonic = stage.mnemonic
            is_load = mnemonic == LOAD_STATIONARY
            if is_load and self._array.holds(op) is not None:
                continue
            parts = 1 if stage.parts is None else stage.parts(op)
            for part in range(parts):
                instruction = EngineInstruction(
                    queue, loop, -1, op, what, mnemonic, stage.operands, place, trigger
                )
                if parts > 1:
                    instruction.part, instruction.parts = part, parts
                if is_load:
                    self._array.load(op, instruction)
                elif mnemonic == MULTIPLY_MOVING:
                    instruction.weights = self._array.holds(op)
                lowered.append(self._add(instruction, number))
        return lowered

    def _append(self, item: Item) -> None:
        loop, queue = item.loop, item.queue
        if loop is not None:
            items = loop.queues[queue].items
        elif queue in self.queues:
            items = self.queues[queue]
        else:
            items = self.queues[queue] = []
        items.append(item)
        self.blocks[loop].append(item)

    def _add(self, instruction: EngineInstruction, form: int | None = None) -> EngineInstruction:
        """Append an instruction.

        `form`: the `LoweredForm.number` of its NKI instruction; None without an NKI instruction.
        """
        number = instruction.number = len(self.instructions)
        instruction.like = unlike(number) if form is None else like_of(form, instruction)
        self.instructions.append(instruction)
        self._append(instruction)
        return instruction

    def _registers_of(
        self, op: NisaOp, form: LoweredForm, done: Sequence[Effect]
    ) -> list[SSAValue]:
        """Return the registers that an instruction reads, including those that index its tiles."""
        operands = op.operands
        found = [operands[position] for position in form.registers]
        for _, value, _, _ in done:
            index = index_of(value)
            if index is not None and isinstance(index.type, RegisterType):
                found.append(index)
        return found
