"""`to_ir`: converts a lowered program to IR of the `engine` dialect.

The listing, the timeline and the interpreter work on `Program` instead: creating an xDSL operation
takes about 9 microseconds, as long as the whole lowering of an instruction. The IR is for readers
and passes. It represents the program completely, and gives the same listing.

Declarations and static views precede the queues. Views that a loop's index moves are in the loop,
in each queue that uses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from xdsl.dialects.arith import ConstantOp as ArithConstantOp
from xdsl.dialects.builtin import DenseArrayBase, StringAttr, UnitAttr, i64
from xdsl.dialects.scf import ForOp
from xdsl.dialects.scf import WhileOp as ScfWhileOp
from xdsl.ir import Block, Operation, Region, SSAValue

from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.engine.attributes import Predecessor, Reason, Semaphore
from nkijit.dialects.engine.ops import (
    AnyLoopOp,
    IssueOp,
    ItemOp,
    LoadTableOp,
    LoopOp,
    QueueOp,
    StageOp,
    TestOp,
    TriggerOp,
    WhileOp,
    named_values,
)
from nkijit.dialects.engine.program import ProgramOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import NoReorderOp
from nkijit.dialects.nki.loops import compared, controls, storage_of
from nkijit.dialects.nki.registers import RegisterOp
from nkijit.dialects.nki.views import ViewOp
from nkijit.passes.lower.names import NAME, Names
from nkijit.passes.lower.program import (
    EngineInstruction,
    Item,
    LoweringError,
    Program,
    QueueLoop,
    Wait,
    What,
)
from nkijit.passes.lower.raise_kernel import Raised

Values = dict[SSAValue, SSAValue]


def to_ir(program: Program) -> ProgramOp:
    """Convert a program to IR.

    The items of a scheduled program have waits and signals; the items of other programs have edges.

    The program's kernel is not changed.

    Raises:
        LoweringError: the IR cannot represent the bounds or the condition of a loop.
    """
    return _Writer(program).write()


class _Writer:
    def __init__(self, program: Program):
        self._program = program
        self._values: Values = {}
        """Maps the kernel's values to the values that the program declares before the queues."""
        self._issued = {i.op: i for i in program.instructions if is_issued(i)}
        """Maps each NKI instruction in the IR to the engine instruction that contains it."""
        self._loops = {
            loop: number
            for number, loop in enumerate(used for used in program.loops if used.queues)
        }
        self._groups: dict[Operation, int] = {}
        self._inside: dict[QueueLoop, dict[SSAValue, tuple[int, str]]] = {}

    def write(self) -> ProgramOp:
        kernel = self._program.kernel
        block = Block(arg_types=[value.type for value in kernel.arguments])
        for value, argument in zip(kernel.arguments, block.args, strict=True):
            argument.name_hint = value.name_hint
            self._values[value] = argument
        self._declare(block)
        for queue, items in self._program.queues.items():
            op = QueueOp.of(queue)
            self._write(items, op.body.block, self._values)
            block.add_op(op)
        block.add_op(kernel.return_op.clone(self._values))
        op = ProgramOp(
            kernel.sym_name.data,
            kernel.target_name.data,
            Region(block),
            None if kernel.program is None else kernel.core,
        )
        op.attributes.update(kernel.attributes)
        op.location = kernel.location
        if self._program.scheduled:
            op.properties["scheduled"] = UnitAttr()
        self._keep_names(op)
        return op

    def _declare(self, block: Block) -> None:
        addresses = self._program.placement.addresses
        for op in self._program.kernel.operations:
            if isinstance(op, ViewOp) and not all(v in self._values for v in op.operands):
                continue
            if isinstance(op, (AllocOp, ConstantOp, RegisterOp, ArithConstantOp, ViewOp)):
                declared = op.clone(self._values)
                if isinstance(op, AllocOp) and op in addresses:
                    address = DenseArrayBase.from_list(i64, addresses[op])
                    declared.properties["address"] = address
                block.add_op(declared)

    def _keep_names(self, op: ProgramOp) -> None:
        """Record listed names that would change because declarations are in another order."""
        raised = Raised(op)
        old, new = Names(self._program.kernel), Names(raised.kernel)
        for value, declared in self._values.items():
            owner = declared.owner
            if isinstance(owner, (AllocOp, ConstantOp, RegisterOp)):
                name = old.of(value)
                if new.of(raised.values[declared]) != name:
                    owner.attributes[NAME] = StringAttr(name)
        variables = {
            number: loop.op.body.block.args[0]
            for loop, number in self._loops.items()
            if isinstance(loop.op, ForOp)
        }
        for inner in op.walk():
            if isinstance(inner, LoopOp):
                name = old.of(variables[inner.number])
                if new.of(raised.values[inner.variable]) != name:
                    inner.attributes[NAME] = StringAttr(name)

    # ---------------------------------------------------------------- queues

    def _write(self, items: Sequence[Item], block: Block, values: Values) -> None:
        """Write items of a queue. `values` maps kernel values to the values defined so far."""
        for item in items:
            if isinstance(item, QueueLoop):
                op = self._loop(item, values)
            else:
                op = self._instruction(cast(EngineInstruction, item), block, values)
            op.synchronise(
                () if self._program.scheduled else [self._edge(item, w) for w in item.edges],
                [self._semaphore(item, wait) for wait in item.waits],
                item.signal,
            )
            block.add_op(op)

    def _instruction(self, instruction: EngineInstruction, block: Block, values: Values) -> ItemOp:
        number, source = instruction.number, instruction.op
        if instruction.what is What.test:
            loop = next(loop for loop in self._loops if loop.op is source)
            return TestOp.of(number, self._loops[loop])
        issued = self._issued[source]
        if instruction.what is What.trigger:
            return TriggerOp.of(number, issued.number)
        if instruction.what is What.load_table:
            return LoadTableOp.of(number, instruction.table, issued.number)
        if instruction is not issued:
            part = instruction.part if instruction.parts > 1 else None
            return StageOp.of(number, instruction.mnemonic, issued.number, part)
        for value in source.operands:
            self._define(value, block, values)
        weights = None if instruction.weights is None else instruction.weights.number
        return IssueOp.of(number, source.clone(values), weights, self._group(source))

    def _define(self, value: SSAValue, block: Block, values: Values) -> None:
        """Write the view that defines a value, unless the view is written already."""
        if value in values:
            return
        owner = value.owner
        if not isinstance(owner, ViewOp):
            raise LoweringError(f"the value of {_name_of(owner)} is known to loops only")
        for operand in owner.operands:
            self._define(operand, block, values)
        block.add_op(owner.clone(values))

    def _group(self, op: Operation) -> int | None:
        """Return the number of the outermost `nki.no_reorder` around an operation, if any."""
        found: Operation | None = None
        parent = op.parent_op()
        while parent is not None:
            found = parent if isinstance(parent, NoReorderOp) else found
            parent = parent.parent_op()
        return None if found is None else self._groups.setdefault(found, len(self._groups))

    def _loop(self, item: QueueLoop, values: Values) -> AnyLoopOp:
        source, number = item.body.op, self._loops[item.body]
        values = dict(values)
        if isinstance(source, ForOp):
            bounds = [_read(value, values) for value in (source.lb, source.ub, source.step)]
            op: AnyLoopOp = LoopOp.of(number, bounds)
            (variable,) = op.body.block.args
            variable.name_hint = source.body.block.args[0].name_hint
            values[source.body.block.args[0]] = variable
        else:
            op = WhileOp.of(number, *(_read(value, values) for value in _sides(source)))
        op.location = source.location
        self._write(item.items, op.body.block, values)
        return op

    # ---------------------------------------------------------------- waits

    def _semaphore(self, waiter: Item, wait: Wait) -> Semaphore:
        return Semaphore(wait.queue, wait.before.signal, wait.carried, self._reason(waiter, wait))

    def _edge(self, waiter: Item, wait: Wait) -> Predecessor:
        before, reason = wait.before, self._reason(waiter, wait)
        if isinstance(before, QueueLoop):
            return Predecessor(self._loops[before.body], before.queue, wait.carried, reason)
        return Predecessor(cast(EngineInstruction, before).number, None, wait.carried, reason)

    def _reason(self, waiter: Item, wait: Wait) -> Reason:
        value = wait.value
        if value is None:
            return Reason(wait.kind)
        if isinstance(waiter, QueueLoop):
            inside = self._inside.get(waiter)
            if inside is None:
                inside = self._inside[waiter] = _values_inside(waiter)
            number, operand = inside[value]
            return Reason(wait.kind, operand, number)
        return Reason(wait.kind, _waiting_values(cast(EngineInstruction, waiter))[value])


def _read(value: SSAValue, values: Values) -> SSAValue:
    """Return the value of a loop's bound in the IR: a number, an induction variable, a register."""
    storage = storage_of(value)
    if storage not in values:
        raise LoweringError(f"a loop is bounded by {_name_of(value.owner)}")
    return values[storage]


def _name_of(owner: Operation | Block) -> str:
    return owner.name if isinstance(owner, Operation) else "an argument"


def _sides(loop: ScfWhileOp) -> tuple[SSAValue, SSAValue]:
    sides = compared(loop)
    if sides is None:
        raise LoweringError("a loop goes on while a register differs from a number")
    return sides


def _waiting_values(instruction: EngineInstruction) -> dict[SSAValue, str]:
    """Map each value for which an instruction can wait to the name of the value's operand."""
    op = instruction.op
    if isinstance(op, ScfWhileOp):
        _sides(op)  # raises if the condition is not supported
    named = controls(op) if isinstance(op, (ForOp, ScfWhileOp)) else named_values(op)
    found: dict[SSAValue, str] = {}
    for name, value in named.items():
        found.setdefault(storage_of(value), name)
    return found


def _values_inside(loop: QueueLoop) -> dict[SSAValue, tuple[int, str]]:
    """Map each value for which a loop's instructions can wait to (number, name of the operand).

    The number is that of the first instruction with the value.
    """
    found: dict[SSAValue, tuple[int, str]] = {}
    for item in loop.items:
        if isinstance(item, QueueLoop):
            inside: Iterable[tuple[SSAValue, tuple[int, str]]] = _values_inside(item).items()
        else:
            instruction = cast(EngineInstruction, item)
            values = _waiting_values(instruction)
            inside = [(value, (instruction.number, name)) for value, name in values.items()]
        for value, place in inside:
            found.setdefault(value, place)
    return found


def is_issued(instruction: EngineInstruction) -> bool:
    """Whether an engine instruction contains its NKI instruction in the IR."""
    if instruction.what is What.print:
        return True
    op = instruction.op
    if instruction.stage < 0 or not is_instruction(op):
        return False
    return instruction.stage == op.SPEC.main_stage and instruction.part == instruction.parts - 1
