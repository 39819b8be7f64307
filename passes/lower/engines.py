"""`lower-to-engines`: from NKI instructions to the engine instructions that the hardware runs.

A matmul is a load of its stationary tile and a multiplication; a stationary tile that the array
still holds is not loaded again. Reading accumulators out is an instruction of its own. An
activation function whose table is not resident has it loaded first, in front of a loop that needs
no other. A DMA is a trigger and a transfer. The engine is the author's choice, else the documented
one.

The walk is in program order and collects, for every engine instruction, what it has to wait for:
true, anti and output dependences by the bytes that tiles touch, also those of tiles that have
had the same bytes before, registers, and the author's edges. A loop is walked twice, and what the
second iteration waits for in the first one is a carried edge. In the second iteration of a loop
the loops in it are walked once: what their own iterations wait for is known from the first one,
and walking them twice again would take time exponential in the depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.scf import ConditionOp, ForOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.costs.engines import table_of
from nkijit.dialects.declare.cost import transfer_of
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.declare.queries import engine_of
from nkijit.dialects.declare.rules.pe_array import LOAD_STATIONARY, MULTIPLY_MOVING
from nkijit.dialects.declare.spec import Stage
from nkijit.dialects.effects import Effect, effects, registers_written
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.ncc import MEETINGS
from nkijit.dialects.nki.allocation import DECLARATIONS
from nkijit.dialects.nki.kernel import DevicePrintOp, KernelOp, NoReorderOp
from nkijit.dialects.nki.registers import ReadRegisterOp
from nkijit.dialects.nki.views import index_of
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.analysis.dependences import Accesses, DependenceKind
from nkijit.passes.analysis.ranges import constant_range
from nkijit.passes.lower.likeness import Likeness
from nkijit.passes.lower.placement import allocate
from nkijit.passes.lower.program import (
    Instruction,
    Item,
    Loop,
    LoweringError,
    Placement,
    Program,
    Queue,
    QueueLoop,
    Wait,
    What,
)
from nkijit.passes.lower.reuse import Reuse
from nkijit.passes.lower.stationary import Array

Tags = tuple[bool, ...]
"""For each loop around an event, outermost first: whether it is in the second iteration."""
READ_BOUNDS = "READ_BOUNDS"
"""Reading the registers that bound a loop, in every queue that runs it."""
TEST = "TEST"
"""Asking whether a loop goes on."""
TRIGGER = "DMA_TRIGGER"
LOAD_TABLE = "LOAD_TABLE"
PRINT = "PRINT"


def lower_to_engines(
    kernel: KernelOp, target: Target | None = None, placement: Placement | None = None
) -> Program:
    """The engine instructions of one core with everything that they have to wait for.

    Waits and signals are not there yet: `schedule` adds them.

    Args:
        kernel: a verified kernel.
        target: its hardware, when not the kernel's own numbers hold.
        placement: where its tiles lie; `allocate(kernel)` by default.

    Raises LoweringError for what is not modelled.
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
    )


class _Form(NamedTuple):
    """What equal NKI instructions become."""

    number: int
    queue: Queue
    trigger: Queue | None
    """The queue that starts it, for a DMA."""
    stages: tuple[tuple[int, Stage, tuple[str, ...]], ...]
    """The stages that run, with the names of what each touches."""
    table: str | None
    meets: bool
    """True for an instruction in which cores meet."""
    registers: tuple[int, ...]
    """Positions of the operands that are registers and read."""
    writes_registers: bool
    indexed: bool
    """True when the address of a tile is known at run time only."""


class _Needs(NamedTuple):
    """What the body of a loop needs, with the loops in it."""

    queues: Sequence[Queue]
    """The queues that have instructions in it."""
    tables: dict[str, NisaOp]
    """The tables of activation functions, with an instruction that needs each."""


class _Lowering:
    def __init__(self, target: Target, placement: Placement):
        self.queues: dict[Queue, list[Item]] = {}
        self.instructions: list[Instruction] = []
        self.loops: list[Loop] = []
        self.blocks: dict[Loop | None, list[Item]] = {None: []}
        self._target = target
        self._accesses = Accesses()
        self._reuse = Reuse(placement)
        self._events: list[Instruction] = []
        """The instruction of each event."""
        self._tags: list[Tags] = []
        self._tag: Tags = ()
        self._forms: dict[tuple[object, ...], _Form] = {}
        self._likeness = Likeness()
        self._registers: dict[SSAValue, _Register] = {}
        self._named: dict[str, int] = {}
        """The last event of each instruction with a name."""
        self._reads: dict[ReadRegisterOp, int | None] = {}
        """The last event that had written a register when it was read for a bound."""
        self._made: dict[Operation, list[Instruction]] = {}
        """The instructions of what is in loops, and walked again."""
        self._loop_of: dict[Operation, Loop] = {}
        self._uncertain: dict[Loop | None, int] = {None: 0}
        """A number for the innermost loop around something that may not run; 0 for none."""
        self._needs: dict[Operation, _Needs] = {}
        self._resident: str | None = None
        """The table of activation functions that the Scalar Engine certainly holds."""
        self._array = Array()

    # ---------------------------------------------------------------- blocks

    def block(self, block: Block, loop: Loop | None) -> None:
        """Lower the operations of a block."""
        for op in block.ops:
            if type(op) in DECLARATIONS:
                continue
            if is_instruction(op):
                self._instruction(op, loop)
            elif isinstance(op, NoReorderOp):
                self.block(op.body.block, loop)
            elif isinstance(op, (ForOp, WhileOp)):
                self._loop(op, loop)
            elif isinstance(op, DevicePrintOp):
                self._print(op, loop)
            elif isinstance(op, ReadRegisterOp):
                self._read(op)
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
            self._uncertain[loop] = self._uncertain[parent] if _runs(op) else 1 + loop.number
            self._hoist_table(op, parent)
        needs = self._needs_of(op)
        if isinstance(op, ForOp):
            self._test(op, READ_BOUNDS, parent, needs.queues, (op.lb, op.ub, op.step))
        if first:
            for queue in needs.queues:
                inside = loop.queues[queue] = QueueLoop(queue, parent, loop)
                self._append(inside)
        for second in (False,) if any(self._tag) else (False, True):
            self._iteration(op, loop, second=second)
        if isinstance(op, WhileOp):
            # It is tested once more than it runs.
            self._tag = (*self._tag, True)
            self._test(op, TEST, loop, needs.queues, _compared(op))
            self._tag = self._tag[:-1]
        self._array.forget()
        if len(needs.tables) > 1:
            # It may not have run, or have ended with any of them.
            self._resident = None

    def _iteration(self, op: ForOp | WhileOp, loop: Loop, *, second: bool) -> None:
        self._tag = (*self._tag, second)
        self._array.forget()
        if isinstance(op, WhileOp):
            self._test(op, TEST, loop, self._needs_of(op).queues, _compared(op))
            self.block(op.after_region.block, loop)
        else:
            self.block(op.body.block, loop)
        self._tag = self._tag[:-1]

    def _hoist_table(self, op: ForOp | WhileOp, parent: Loop | None) -> None:
        """Load the only table that a loop needs in front of it."""
        needed = self._needs_of(op).tables
        if len(needed) == 1:
            ((table, user),) = needed.items()
            if self._resident != table:
                self._resident = table
                load = Instruction(Queue.scalar, parent, -1, user, What.load_table, LOAD_TABLE, ())
                load.table = table
                self._add(load)
        elif needed:
            self._resident = None

    def _needs_of(self, op: ForOp | WhileOp) -> _Needs:
        """What a loop needs, found once."""
        found = self._needs.get(op)
        if found is None:
            queues, tables = set[Queue](), dict[str, NisaOp]()
            self._collect(op, queues, tables)
            found = self._needs[op] = _Needs(sorted(queues), tables)
        return found

    def _collect(self, op: Operation, queues: set[Queue], tables: dict[str, NisaOp]) -> None:
        for region in op.regions:
            for inner in region.block.ops:
                if is_instruction(inner):
                    form = self._form(inner)
                    queues.update(
                        (form.queue, form.queue if form.trigger is None else form.trigger)
                    )
                    if form.table is not None:
                        tables.setdefault(form.table, inner)
                elif isinstance(inner, (ForOp, WhileOp)):
                    needs = self._needs_of(inner)
                    queues.update(needs.queues)
                    for table, user in needs.tables.items():
                        tables.setdefault(table, user)
                elif isinstance(inner, DevicePrintOp):
                    queues.add(Queue.sync)
                else:
                    self._collect(inner, queues, tables)

    def _read(self, op: ReadRegisterOp) -> None:
        """The value of a register is taken for a bound, which queues read when they get there."""
        if any(not isinstance(use.operation, (ForOp, CmpiOp)) for use in op.result.uses):
            raise LoweringError.at(op, "is for the bounds of loops; instructions take registers")
        self._reads[op] = self._writer(op)

    def _writer(self, op: ReadRegisterOp) -> int | None:
        """The last event that has written a register that is read."""
        register = self._registers.get(op.source)
        return None if register is None else register.writer

    def _test(
        self,
        op: ForOp | WhileOp,
        mnemonic: str,
        loop: Loop | None,
        queues: Sequence[Queue],
        values: Iterable[SSAValue],
    ) -> None:
        """Every queue of a loop reads the registers that it depends on."""
        reads = [read for value in values if isinstance(read := value.owner, ReadRegisterOp)]
        if not reads:
            return
        for read in reads:
            if read in self._reads and self._reads[read] != self._writer(read):
                raise LoweringError.at(
                    op, "a register that bounds the loop is written after it was read"
                )
        registers = [read.source for read in reads]
        made = self._made.get(op)
        if made is None:
            made = [
                self._add(Instruction(queue, loop, -1, op, What.test, mnemonic, ()))
                for queue in queues
                if not queue.is_ring
            ]
            self._made[op] = made
        for instruction in made:
            self._event(instruction, ())
            self._read_registers(instruction, registers)

    def _print(self, op: DevicePrintOp, loop: Loop | None) -> None:
        made = self._made.get(op)
        if made is None:
            made = [
                self._add(Instruction(Queue.sync, loop, -1, op, What.print, PRINT, ("tensor",)))
            ]
            self._made[op] = made
        self._event(made[0], effects(op))

    # ---------------------------------------------------------------- instructions

    def _instruction(self, op: NisaOp, loop: Loop | None) -> None:
        form = self._form(op)
        done = effects(op)
        if form.meets:
            # What the other cores do with a tensor is done when they have met.
            done = [Effect(name, value, Role.update, True) for name, value, _, _ in done]
        made = self._made.get(op) if loop is not None else None
        if made is None:
            made = self._make(op, form, loop)
            if loop is not None:
                self._made[op] = made
        for name in op.runs_after if op.after is not None else ():
            before = self._named.get(name)
            if before is None:
                raise LoweringError.at(op, f"runs after '{name}', which is further down")
            first = next(i for i in made if i.what is not What.load_table)
            self._edge(before, first, None, None)
        several = len(form.stages) > 1
        reads_registers = form.indexed or form.registers
        registers = self._registers_of(op, form, done) if reads_registers else ()
        for instruction in made:
            if instruction.stage < 0:
                # It starts a DMA, or loads a table.
                self._event(instruction, ())
            else:
                stage = instruction.operands
                own = [e for e in done if _field(e.name) in stage] if several else done
                self._event(instruction, own)
            if registers and instruction.what not in _WITHOUT_REGISTERS:
                self._read_registers(instruction, registers)
        if form.writes_registers:
            self._write_registers(made[-1], registers_written(op))
        if op.instruction_name is not None:
            self._named[op.label] = len(self._events) - 1
        if form.queue is Queue.tensor:
            self._array.note(done)
        else:
            self._array.note_writes(done)

    def _make(self, op: NisaOp, form: _Form, loop: Loop | None) -> list[Instruction]:
        queue, made = form.queue, list[Instruction]()
        if form.table is not None and form.table != self._resident:
            self._resident = form.table
            load = Instruction(queue, loop, -1, op, What.load_table, LOAD_TABLE, ())
            load.table = form.table
            made.append(self._add(load, form))
        if form.trigger is not None:
            trigger = Instruction(form.trigger, loop, -1, op, What.trigger, TRIGGER, ())
            made.append(self._add(trigger, form))
        for number, stage, names in form.stages:
            if stage.mnemonic == LOAD_STATIONARY and self._array.holds(op) is not None:
                continue
            parts = 1 if stage.parts is None else stage.parts(op)
            for part in range(parts):
                what = What.compute if form.trigger is None else What.transfer
                instruction = Instruction(queue, loop, -1, op, what, stage.mnemonic, names, number)
                instruction.part, instruction.parts = part, parts
                if form.trigger is not None:
                    instruction.trigger = made[-1]
                if stage.mnemonic == LOAD_STATIONARY:
                    self._array.load(op, instruction)
                elif stage.mnemonic == MULTIPLY_MOVING:
                    instruction.weights = self._array.holds(op)
                made.append(self._add(instruction, form))
        return made

    def _form(self, op: NisaOp) -> _Form:
        key = self._likeness.key(op)
        form = self._forms.get(key)
        if form is None:
            form = self._forms[key] = _form_of(op, self._target, len(self._forms))
        return form

    def _append(self, item: Item) -> None:
        loop, queue = item.loop, item.queue
        items = self.queues.setdefault(queue, []) if loop is None else loop.queues[queue].items
        items.append(item)
        self.blocks[loop].append(item)

    def _add(self, instruction: Instruction, form: _Form | None = None) -> Instruction:
        instruction.number = len(self.instructions)
        if form is None:
            instruction.like = -1 - instruction.number
        else:
            instruction.like = like_of(form.number, instruction)
        self.instructions.append(instruction)
        self._append(instruction)
        return instruction

    # ---------------------------------------------------------------- what they wait for

    def _event(self, instruction: Instruction, done: Sequence[Effect]) -> None:
        """An instruction runs: what do its tiles have to wait for?"""
        number = len(self._events)
        self._events.append(instruction)
        self._tags.append(self._tag)
        queue = instruction.queue
        block = self._uncertain[instruction.loop]
        if not done:
            self._accesses.add(queue, done, queue, block)
            return
        waiter = instruction.trigger or instruction
        tenants = self._reuse.tenants(done)
        for tenant, value, role in tenants:
            if role is not Role.read:
                writers = self._accesses.writers(value)
                for before in self._reuse.earlier(tenant, value, writers):
                    self._edge(before, waiter, DependenceKind.anti, value)
        for before, kind, value in self._accesses.add(queue, done, waiter.queue, block)[0]:
            self._edge(before, waiter, kind, value)
        for tenant, value, _ in tenants:
            self._reuse.note(tenant, value, queue, number)

    def _edge(
        self, event: int, waiter: Instruction, kind: DependenceKind | None, value: SSAValue | None
    ) -> None:
        """An instruction waits for an event, unless its queue keeps them in order."""
        before = self._events[event]
        if before.queue is waiter.queue:
            return
        if before.loop is None and waiter.loop is None:
            waiter.edges.append(Wait(before, False, kind, value))
            return
        tags, others = self._tag, self._tags[event]
        chain, other = _chain(waiter.loop), _chain(before.loop)
        for depth in range(min(len(chain), len(other))):
            if chain[depth] is not other[depth]:
                common = depth
                break
            if tags[depth] != others[depth]:
                first, then = _lift(before, other, depth + 1), _lift(waiter, chain, depth + 1)
                if first.queue is not then.queue:
                    then.edges.append(Wait(first, True, kind, value))
                return
        else:
            common = min(len(chain), len(other))
        if any(tags[:common]):
            return  # as in the first iteration
        first, then = _lift(before, other, common), _lift(waiter, chain, common)
        if first.queue is not then.queue:
            then.edges.append(Wait(first, False, kind, value))

    def _registers_of(self, op: NisaOp, form: _Form, done: Sequence[Effect]) -> list[SSAValue]:
        """The registers that an instruction reads, also those that say where its tiles are."""
        operands = op.operands
        found = [operands[position] for position in form.registers]
        for _, value, _, _ in done:
            index = index_of(value)
            if index is not None and isinstance(index.type, RegisterType):
                found.append(index)
        return found

    def _read_registers(self, instruction: Instruction, registers: Sequence[SSAValue]) -> None:
        event = len(self._events) - 1
        for value in registers:
            register = self._registers.setdefault(value, _Register())
            if register.writer is not None:
                self._edge(register.writer, instruction, DependenceKind.true, value)
            register.readers[instruction.queue] = event

    def _write_registers(self, instruction: Instruction, registers: Iterable[SSAValue]) -> None:
        event = len(self._events) - 1
        for value in registers:
            register = self._registers.setdefault(value, _Register())
            if register.writer is not None:
                self._edge(register.writer, instruction, DependenceKind.output, value)
            for reader in register.readers.values():
                self._edge(reader, instruction, DependenceKind.anti, value)
            register.writer = event
            register.readers.clear()


class _Register:
    """The last events that have touched a register."""

    __slots__ = ("readers", "writer")

    def __init__(self) -> None:
        self.writer: int | None = None
        self.readers: dict[Queue, int] = {}


def _runs(op: ForOp | WhileOp) -> bool:
    """True when it is known that a loop runs at least once."""
    return isinstance(op, ForOp) and bool(constant_range(op))


def _chain(loop: Loop | None) -> list[Loop]:
    """The loops around something, the outermost first."""
    found: list[Loop] = []
    while loop is not None:
        found.append(loop)
        loop = loop.parent
    return found[::-1]


def _lift(instruction: Instruction, chain: Sequence[Loop], depth: int) -> Item:
    """An instruction, or the loop that it is in, as an item of the block at some depth."""
    return instruction if len(chain) == depth else chain[depth].queues[instruction.queue]


def _field(name: str) -> str:
    """The field that an effect belongs to."""
    return name.removeprefix("index of ")


def _compared(op: WhileOp) -> list[SSAValue]:
    """The values that the condition of a loop is made of."""
    end = cast(ConditionOp, op.before_region.block.last_op)
    test = end.condition.owner
    return list(test.operands) if isinstance(test, Operation) else []


# ------------------------------------------------------------------ single instructions

_MOST = 16
"""More than one NKI instruction has stages and other parts."""
_WITHOUT_REGISTERS = (What.transfer, What.load_table)
"""What reads no registers: a trigger reads those of its transfer."""
_KINDS = {what: number for number, what in enumerate(What)}


def like_of(form: int, instruction: Instruction) -> int:
    """`Instruction.like`, by the number of its NKI instruction's form."""
    kind = instruction.stage if instruction.stage >= 0 else -1 - _KINDS[instruction.what]
    return form * _MOST + kind % _MOST


def _form_of(op: NisaOp, target: Target, number: int) -> _Form:
    runs_on = engine_of(op, target)
    trigger = None
    if runs_on is engine.dma:
        trigger = Queue.of_engine(transfer_of(op, target).trigger)
        queue = _ring(op, trigger)
    else:
        queue = Queue.of_engine(runs_on)
    stages = tuple(
        (number, stage, stage.operands)
        for number, stage in enumerate(op.SPEC.stages)
        if stage.when is None or op.operand_named(stage.when) is not None
    )
    segments = op.segments
    registers = tuple(
        position
        for f in op.SPEC.operand_fields
        if f.role is Role.read
        for position in ((f.index,) if segments is None else segments[f.index])
        if isinstance(op.operands[position].type, RegisterType)
    )
    table = table_of(op) if queue is Queue.scalar else None
    indexed = any(is_tile(v) and info_of(v).indirection is not None for v in op.operands)
    return _Form(
        number,
        queue,
        trigger,
        stages,
        table,
        isinstance(op, MEETINGS),
        registers,
        any(True for _ in registers_written(op)),
        indexed,
    )


def _ring(op: NisaOp, trigger: Queue) -> Queue:
    """The ring of a DMA."""
    if trigger is not Queue.sync:
        return Queue.dma_gpsimd if trigger is Queue.gpsimd else Queue.dma_scalar
    if isinstance(op, MEETINGS):
        return Queue.dma_copy
    regions = {
        role is Role.read: info_of(value).region.on_chip for _, value, role, _ in effects(op)
    }
    if regions.get(True) is regions.get(False):
        return Queue.dma_copy
    return Queue.dma_store if regions.get(True) else Queue.dma_load
