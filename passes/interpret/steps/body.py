"""Blocks of a kernel as steps: instructions, and loops around nested bodies.

A body with a meeting (a point at which cores or ranks wait for each other) cannot run to its end by
itself. `drive` yields at each meeting and resumes when the runner of all cores has settled the
meeting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from xdsl.dialects import arith
from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.scf import ConditionOp, ForOp, WhileOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.nki.allocation import DECLARATIONS
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import DevicePrintOp, NoReorderOp, ReturnOp
from nkijit.dialects.nki.loops import condition_of
from nkijit.dialects.nki.registers import ReadRegisterOp, RegisterOp
from nkijit.dialects.nki.views import base_of, leaves_its_tensor
from nkijit.dialects.tiles import info_of
from nkijit.dialects.walks import directly_in
from nkijit.passes.diagnostics.environment import limit_of
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Env, Slots, Step, unwritten
from nkijit.passes.interpret.records.errors import InterpretationError, failure
from nkijit.passes.interpret.records.indirect import Indirect, with_indirects
from nkijit.passes.interpret.records.machine import Runner
from nkijit.passes.interpret.records.records import Meets, Record
from nkijit.passes.interpret.steps.forms import (
    Frame,
    StepForm,
    StepForms,
    record_at,
    step_at,
    whole,
)

LOOP_LIMIT = 1_000_000
"""The largest number of iterations of device loops in a core's run, all loops together."""
LOOP_LIMIT_VARIABLE = "NKIJIT_LOOP_LIMIT"

_DECLARATIONS = frozenset[type[Operation]](
    (*DECLARATIONS, RegisterOp, arith.ConstantOp, ReturnOp, YieldOp, ConditionOp)
)
"""Operations that have no effect when a kernel runs."""

Driver = Callable[[Env], Runner]


class Observer(Protocol):
    """The methods that are called before and after every operation of a run."""

    def before(self, op: Operation, env: Env) -> None: ...
    def after(self, op: Operation, env: Env) -> None: ...


@dataclass(repr=False)
class Body:
    """A block of a kernel as a sequence of steps (functions of an environment)."""

    slots: Slots
    observer: int
    """The slot of the run's observer; its value is None in a run without an observer."""
    native: int
    """The slot of the native code's data; its value is None in a run without native code."""
    ops: list[Operation] = field(default_factory=list[Operation])
    forms: list[StepForm] = field(default_factory=list[StepForm])
    """The form of each operation (see `StepForms`); loops and other non-instructions share none."""
    frames: list[Frame] = field(default_factory=list[Frame])
    """The frame of each operation: a function that selects the slots that its form uses."""
    drivers: dict[int, Driver] = field(default_factory=dict[int, Driver])
    """The drivers of steps that synchronise cores, by position; they replace the form's step."""
    loops: dict[int, Loop] = field(default_factory=dict[int, "Loop"])
    """The loops among the steps, by the position of the step."""
    resolved: dict[Operation, list[tuple[SSAValue, Indirect]]] = field(
        default_factory=dict[Operation, list[tuple[SSAValue, Indirect]]]
    )
    """The operands with run-time addresses, by instruction."""
    wrapped: set[int] = field(default_factory=set[int])
    """The positions of steps that do more than the instruction's record describes."""
    before: dict[int, list[Step]] = field(default_factory=dict[int, list[Step]])
    """Steps that initialise memory before an operation, by the operation's position."""
    fast: list[Step] = field(default_factory=list[Step])
    """The steps of a run with native code; empty before native code exists."""
    fast_drivers: dict[int, Driver] = field(default_factory=dict[int, Driver])
    """The drivers of steps in `fast` that synchronise cores, by position."""

    def all(self) -> Iterator[Body]:
        """Yield this body and all nested bodies."""
        yield self
        for body in self.inner:
            yield from body.all()

    @property
    def inner(self) -> Iterator[Body]:
        """Yield the bodies of the loops among the steps."""
        for loop in self.loops.values():
            if isinstance(loop, ConditionalLoop):
                yield loop.before
            yield loop.body

    @property
    def steps(self) -> Iterator[Step]:
        """Yield the step of each operation."""
        return map(step_at, self.forms, self.frames)

    @property
    def records(self) -> Iterator[Record | None]:
        """Yield the record of each operation; None for non-instructions."""
        for op, form, frame in zip(self.ops, self.forms, self.frames, strict=True):
            yield record_at(form, frame, op, self.slots) if is_instruction(op) else None

    def bound(self) -> Iterator[tuple[Operation, Step, Driver | None]]:
        """Yield every operation with its step and driver, including those in loops."""
        for body in self.all():
            for position, (op, step) in enumerate(zip(body.ops, body.steps, strict=True)):
                yield op, step, body.drivers.get(position)

    def run(self, env: Env) -> None:
        """Run all steps. Allowed only for bodies that do not synchronise cores."""
        observer: Observer | None = env[self.observer]
        if observer is None:
            if env[self.native] is None:
                for step, frame in zip(*self._sequence, strict=True):
                    step(frame(env))
            else:
                for step in self.fast:
                    step(env)
            return
        for position, (op, form, frame) in enumerate(
            zip(self.ops, self.forms, self.frames, strict=True)
        ):
            self._initialise(position, env)
            observer.before(op, env)
            form.step(frame(env))
            observer.after(op, env)

    @cached_property
    def _sequence(self) -> tuple[list[Step], list[Frame]]:
        """Return all steps in order, with their frames, including steps that initialise memory."""
        if not self.before:
            return [form.step for form in self.forms], self.frames
        steps: list[Step] = []
        frames: list[Frame] = []
        for position, (form, frame) in enumerate(zip(self.forms, self.frames, strict=True)):
            for step in self.before.get(position, ()):
                steps.append(step)
                frames.append(whole)
            steps.append(form.step)
            frames.append(frame)
        return steps, frames

    def _initialise(self, position: int, env: Env) -> None:
        for step in self.before.get(position, ()):
            step(env)

    def drive(self, env: Env) -> Runner:
        """Run all steps, and yield each `Meeting`, which the caller must settle before resuming."""
        observer: Observer | None = env[self.observer]
        drivers = self.drivers
        if not drivers and observer is None:
            self.run(env)
            return
        if env[self.native] is not None:
            for number, step in enumerate(self.fast):
                if number in self.fast_drivers:
                    yield from self.fast_drivers[number](env)
                else:
                    step(env)
            return
        for position, (op, form, frame) in enumerate(
            zip(self.ops, self.forms, self.frames, strict=True)
        ):
            self._initialise(position, env)
            if observer is not None:
                observer.before(op, env)
            if position in drivers:
                yield from drivers[position](env)
            else:
                form.step(frame(env))
            if observer is not None:
                observer.after(op, env)


def compile_body(slots: Slots, forms: StepForms, block: Block) -> Body:
    """Bind the operations of a block and of the loops in it."""
    body = Body(slots, slots.named("observer"), slots.named("native"))
    _compile_into(slots, forms, block, body)
    return body


def _compile_into(slots: Slots, forms: StepForms, block: Block, body: Body) -> None:
    for op in directly_in(block):
        if type(op) in _DECLARATIONS:
            continue
        driver = None
        if is_instruction(op):
            form, frame, binding = forms.bind(op)
            if binding is not None:
                form, driver = _with_addresses(form, op, binding, body)
        elif isinstance(op, ConstantOp):
            slots.hold_constant(op)
            continue
        elif isinstance(op, NoReorderOp):
            _compile_into(slots, forms, op.body.block, body)
            continue
        else:
            step, driver = _compile(slots, forms, op, body)
            form, frame = StepForm(step, None), whole
        if driver is not None:
            body.drivers[len(body.ops)] = driver
        body.ops.append(op)
        body.forms.append(form)
        body.frames.append(frame)


def _with_addresses(
    form: StepForm, op: NisaOp, binding: Binding, body: Body
) -> tuple[StepForm, Driver | None]:
    """Return the form and driver of an instruction that does not share its form.

    They also compute run-time addresses, and run the step of `_discarding`.
    """
    record, found, slots = form.record, binding.indirects, binding.slots
    driver = record.drive if isinstance(record, Meets) else None
    if found:
        if driver is not None:
            raise failure(op, "an address known at run time only is not modelled here")
        form = StepForm(with_indirects(op, form.step, found, binding.slot_of), record)
        body.resolved[op] = [(located.value, located.indirect) for located in found]
        body.wrapped.add(len(body.ops))
    discard = _discarding(slots, reads_and_writes(op))
    if discard is not None:
        body.wrapped.add(len(body.ops))
        form = StepForm(_and_then(form.step, discard), record)
        driver = None if driver is None else _drive_and_then(driver, discard)
    return form, driver


def _discarding(slots: Slots, touched: Sequence[tuple[SSAValue, Role]]) -> Step | None:
    """Return a step that discards writes outside of tensors; None if there are no such writes."""
    bases = {
        base
        for value, role in touched
        if role is not Role.read
        and slots.reach(base := base_of(value)).extended
        and leaves_its_tensor(value)
    }
    if not bases:
        return None
    outside: list[tuple[int, float]] = []
    for base in bases:
        dtype = info_of(base).dtype
        blocks = slots.reach(base).outside(dtype.itemsize)
        outside += [(slots.view(base, block, dtype), unwritten(dtype)) for block in blocks]
    if not outside:
        return None

    def discard(env: Env) -> None:
        for slot, value in outside:
            env[slot][...] = value

    return discard


def _and_then(step: Step, then: Step) -> Step:
    def both(env: Env) -> None:
        step(env)
        then(env)

    return both


def _drive_and_then(drive: Driver, then: Step) -> Driver:
    def both(env: Env) -> Runner:
        yield from drive(env)
        then(env)

    return both


def _compile(
    slots: Slots, forms: StepForms, op: Operation, around: Body
) -> tuple[Step, Driver | None]:
    if isinstance(op, DevicePrintOp):
        return _print(slots, op), None
    if isinstance(op, ReadRegisterOp):
        return _assign(slots.register(op.result), slots.register_reader(op.source, op)), None
    if isinstance(op, CmpiOp):
        return _not_equal(slots, op), None
    if isinstance(op, (ForOp, WhileOp)):
        loop = _for(slots, forms, op) if isinstance(op, ForOp) else _while(slots, forms, op)
        around.loops[len(around.ops)] = loop
        return loop.run, loop.drive if loop.body.drivers else None
    raise failure(op, "it cannot be interpreted")


def _print(slots: Slots, op: DevicePrintOp) -> Step:
    info, prefix = info_of(op.tensor), op.prefix.data
    slot = slots.view(base_of(op.tensor), slots.access(op.tensor), info.dtype)
    return lambda env: print(prefix, env[slot], sep="\n")


def _assign(into: int, read: Callable[[Env], int]) -> Step:
    def step(env: Env) -> None:
        env[into] = read(env)

    return step


def _not_equal(slots: Slots, op: CmpiOp) -> Step:
    left, right = slots.register_reader(op.lhs, op), slots.register_reader(op.rhs, op)
    return _assign(slots.register(op.result), lambda env: int(left(env) != right(env)))


def loop_limit() -> int:
    """Return the maximum number of iterations; NKIJIT_LOOP_LIMIT overrides the default."""
    try:
        return limit_of(LOOP_LIMIT_VARIABLE, LOOP_LIMIT)
    except ValueError as error:
        raise InterpretationError(str(error)) from None


def runaway(op: Operation, limit: int) -> InterpretationError:
    """Return the error for a loop that continues after `limit` iterations."""
    return failure(
        op,
        f"the loop has not ended after {limit} iterations; {LOOP_LIMIT_VARIABLE} raises the limit",
    )


def too_many(op: Operation, limit: int) -> InterpretationError:
    """Return the error for loops that exceed `limit` iterations in total; `op` is the last loop."""
    return failure(
        op,
        f"the loops of the run would go through more than {limit} iterations together; "
        f"{LOOP_LIMIT_VARIABLE} raises the limit",
    )


def numbers_of(slots: Slots, op: ForOp) -> Callable[[Env], range]:
    """Return a function that computes a loop's induction values from the current bounds."""
    bounds = [slots.register_reader(value, op) for value in (op.lb, op.ub, op.step)]

    def numbers(env: Env) -> range:
        lower, upper, step = [bound(env) for bound in bounds]
        if step < 1:
            raise failure(op, f"the step of a loop is at least 1, it is {step}")
        limit = loop_limit()
        if (upper - lower) // step > limit:  # `len` of a huge range raises OverflowError
            raise runaway(op, limit)
        values = range(lower, upper, step)
        if len(values) > limit:
            raise runaway(op, limit)
        return values

    return numbers


@dataclass(frozen=True, slots=True, eq=False)
class CountedLoop:
    """A loop with an induction variable."""

    op: ForOp
    body: Body
    index: int
    """The slot of the induction variable."""
    numbers: Callable[[Env], range]
    """Returns the values of the induction variable, from the current bounds."""
    count: int
    """The slot that counts the iterations of all loops."""

    def enter(self, env: Env) -> range:
        """Return the values of the induction variable, and count the loop's iterations."""
        found = self.numbers(env)
        env[self.count] += len(found)
        if env[self.count] > loop_limit():
            raise too_many(self.op, loop_limit())
        return found

    def run(self, env: Env) -> None:
        """Run the loop. Allowed only for bodies that do not synchronise cores."""
        for number in self.enter(env):
            env[self.index] = number
            self.body.run(env)

    def drive(self, env: Env) -> Runner:
        """Run the loop, and yield each `Meeting` of cores."""
        for number in self.enter(env):
            env[self.index] = number
            yield from self.body.drive(env)


@dataclass(frozen=True, slots=True, eq=False)
class ConditionalLoop:
    """A loop that continues while a register is not 0."""

    op: WhileOp
    before: Body
    """The body that computes the condition."""
    body: Body
    condition: int
    """The slot of the condition."""
    count: int
    """The slot that counts the iterations of all loops."""

    def continues(self, env: Env, limit: int, done: int) -> bool:
        """Return whether iteration `done` runs; `before` has computed the condition."""
        if not env[self.condition]:
            return False
        if done >= limit:
            raise runaway(self.op, limit)
        env[self.count] += 1
        if env[self.count] > limit:
            raise too_many(self.op, limit)
        return True

    def run(self, env: Env) -> None:
        """Run the loop. Allowed only for bodies that do not synchronise cores."""
        for _ in self._iterations(env):
            self.body.run(env)

    def drive(self, env: Env) -> Runner:
        """Run the loop, and yield each `Meeting` of cores."""
        for _ in self._iterations(env):
            yield from self.body.drive(env)

    def _iterations(self, env: Env) -> Iterator[int]:
        limit, done = loop_limit(), 0
        self.before.run(env)
        while self.continues(env, limit, done):
            yield done
            done += 1
            self.before.run(env)


Loop = CountedLoop | ConditionalLoop


def _for(slots: Slots, forms: StepForms, op: ForOp) -> Loop:
    numbers = numbers_of(slots, op)
    index = slots.register(op.body.block.args[0])
    count = slots.named("iterations", 0)
    return CountedLoop(op, compile_body(slots, forms, op.body.block), index, numbers, count)


def _while(slots: Slots, forms: StepForms, op: WhileOp) -> Loop:
    before = compile_body(slots, forms, op.before_region.block)
    condition = slots.register(condition_of(op))
    count = slots.named("iterations", 0)
    body = compile_body(slots, forms, op.after_region.block)
    return ConditionalLoop(op, before, body, condition, count)
