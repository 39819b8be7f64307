"""The memory accesses of a lowered kernel's instructions, determined before a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, scalar_constant
from nkijit.dialects.effects import Effect, effects
from nkijit.dialects.nki.loops import condition_of
from nkijit.dialects.nki.registers import ReadRegisterOp
from nkijit.dialects.nki.views import index_of
from nkijit.dialects.tiles import is_tile
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.records.environment import Env, Step
from nkijit.passes.interpret.records.indirect import Indirect
from nkijit.passes.interpret.steps.body import Driver, numbers_of
from nkijit.passes.lower.program import EngineInstruction, Program, Queue, What

Name = tuple[str, int]
"""The name of an operand, and an index among the instruction's effects with this name."""


@dataclass(slots=True)
class Action:
    """The memory accesses and computation of an engine instruction.

    The main stage of an NKI instruction computes. Earlier stages read operands ahead of it; later
    stages write results out.
    """

    reads: Mapping[Name, SSAValue] = field(default_factory=dict[Name, SSAValue])
    """The operands that the instruction reads from memory when the instruction begins."""
    touched: Sequence[SSAValue] = ()
    """All operands of the computation."""
    writes: Sequence[tuple[SSAValue, Indirect | None]] = ()
    """The operands that the instruction writes to memory when the instruction ends."""
    later: Sequence[SSAValue] = ()
    """The results that a later stage writes to memory."""
    ahead: Mapping[Name, SSAValue] = field(default_factory=dict[Name, SSAValue])
    """The operands that an earlier stage has read from memory."""
    loads: bool = False
    """True for an earlier stage, which only reads operands."""
    step: Step | None = None
    driver: Driver | None = None
    """Runs an instruction at which cores or ranks wait for each other; None for others."""
    registers: Sequence[int] = ()
    """For a DMA trigger, the slots of the registers that the DMA uses (see `Slots`)."""


@dataclass(slots=True)
class Control:
    """The functions that determine the iterations of a loop in the queues of a core."""

    numbers: Callable[[Env], range] | None
    """For a counted loop, returns the values of the induction variable from the current bounds."""
    index: int
    """The slot (in the run's environment) of the induction variable."""
    continues: Callable[[Env], bool] | None
    """For a conditional loop, evaluates the condition."""


class Actions:
    """The actions of all instructions and loops of a program."""

    def __init__(self, plan: Plan, program: Program):
        """Determine the actions of a program; `plan` is the compiled kernel of the program."""
        self._slots = plan.slots
        self._resolved = plan.resolved
        self._bound = {op: (step, driver) for op, step, driver in plan.body.bound()}
        self._of = {instruction: self._action(instruction) for instruction in program.instructions}
        self._loops: dict[Operation, Control] = {
            loop.op: self._control(loop.op) for loop in program.loops
        }

        self._rings = {i.trigger: i.queue for i in program.instructions if i.trigger is not None}

    def ring(self, trigger: EngineInstruction) -> Queue:
        """Return the ring of the DMA that a trigger starts."""
        return self._rings[trigger]

    def of(self, instruction: EngineInstruction) -> Action:
        """Return the action of an instruction."""
        return self._of[instruction]

    def control(self, op: Operation) -> Control:
        """Return the control of a loop."""
        return self._loops[op]

    def _action(self, instruction: EngineInstruction) -> Action:
        op = instruction.op
        if instruction.what is What.trigger:
            return Action(registers=self._registers(op))
        if instruction.what in (What.load_table, What.test):
            return Action()
        if instruction.part < instruction.parts - 1:
            return Action()  # the last part computes
        stages, main = (op.SPEC.stages, op.SPEC.main_stage) if isinstance(op, NisaOp) else ((), 0)
        staged: list[tuple[int, Name, Effect]] = []
        for name, effect in _numbered(effects(op)):
            operand = effect.touched.operand
            indices = (i for i, stage in enumerate(stages) if operand in stage.operands)
            staged.append((next(indices, main), name, effect))
        here = main if instruction.stage < 0 else instruction.stage
        if here < main:
            ahead = {name: e.value for stage, name, e in staged if stage == here}
            return Action(ahead, loads=True)
        if here > main:
            return Action(later=[e.value for stage, _, e in staged if stage == here])
        step, driver = self._bound[op]
        resolved = dict(self._resolved.get(op, ()))

        def needs(effect: Effect) -> bool:
            # Completely overwritten operands need not be read, except by meetings, which may skip
            # parts.
            whole = effect.role is Role.write and not effect.partial
            return not whole or effect.value in resolved or driver is not None

        return Action(
            {name: e.value for stage, name, e in staged if stage == main and needs(e)},
            [e.value for _, _, e in staged],
            [
                (e.value, resolved.get(e.value))
                for stage, _, e in staged
                if stage <= main and e.role is not Role.read
            ],
            [e.value for stage, _, e in staged if stage > main],
            {name: e.value for stage, name, e in staged if stage < main},
            step=step,
            driver=driver,
        )

    def _registers(self, op: Operation) -> list[int]:
        indices = (index_of(value) for value in op.operands if is_tile(value))
        values = [*op.operands, *(index for index in indices if index is not None)]
        return [
            self._slots.register(value)
            for value in values
            if not is_tile(value) and scalar_constant(value) is None
        ]

    def _control(self, op: ForOp | WhileOp) -> Control:
        if isinstance(op, WhileOp):
            return Control(None, -1, self._condition(op))
        read, numbers = self._reads(op), numbers_of(self._slots, op)

        def values(env: Env) -> range:
            for step in read:
                step(env)
            return numbers(env)

        return Control(values, self._slots.register(op.body.block.args[0]), None)

    def _reads(self, op: ForOp) -> list[Step]:
        owners = (value.owner for value in (op.lb, op.ub, op.step))
        return [self._bound[owner][0] for owner in owners if isinstance(owner, ReadRegisterOp)]

    def _condition(self, op: WhileOp) -> Callable[[Env], bool]:
        block = op.before_region.block
        steps = [self._bound[inner][0] for inner in block.ops if inner in self._bound]
        condition = self._slots.register(condition_of(op))

        def continues(env: Env) -> bool:
            for step in steps:
                step(env)
            return bool(env[condition])

        return continues


def _numbered(found: Sequence[Effect]) -> list[tuple[Name, Effect]]:
    counts: dict[str, int] = {}
    result: list[tuple[Name, Effect]] = []
    for effect in found:
        number = counts[effect.name] = counts.get(effect.name, -1) + 1
        result.append(((effect.name, number), effect))
    return result
