"""Compiles a kernel into a plan of NumPy calls, and runs it.

Compilation resolves views, data types and branches once (`binding.py`). A run allocates the
kernel's tensors and executes the plan's steps. A plan holds no data of runs, so several threads may
run the same plan at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.dtypes import Kind
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import DevicePrintOp, KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.interpret.backends.choice import (
    NATIVE,
    NUMPY,
    WORTH_IT,
    BackendReport,
    is_installed,
    native,
    wanted,
)
from nkijit.passes.interpret.backends.numpy import bind
from nkijit.passes.interpret.plan.inputs import Input, wrong_count
from nkijit.passes.interpret.plan.lending import Lent, Loan, Use, all_of_it, uses_of
from nkijit.passes.interpret.records.environment import (
    UNWRITTEN_INTEGER,
    Array,
    Env,
    Slots,
    Views,
    strided,
    unwritten,
)
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.interpret.records.indirect import Indirect
from nkijit.passes.interpret.records.machine import FIRST_CORE, Core, run_together
from nkijit.passes.interpret.records.records import Record
from nkijit.passes.interpret.steps.arena import (
    RESULTS,
    WORKSPACES,
    Arrangement,
    FillUnwritten,
    Lifetime,
    aligned,
    arrange,
    lifetimes,
)
from nkijit.passes.interpret.steps.body import compile_body
from nkijit.passes.interpret.steps.forms import StepForms
from nkijit.passes.numerics.storage import storage, untrapped


class Listener(Protocol):
    """Receives every executed operation, with the tiles that the operation wrote."""

    def did_run(self, op: Operation, written: Sequence[Array]) -> None:
        """Receive an executed operation; `written` has views of the tiles that the operation wrote.

        The elements have the stored data types.
        """
        ...


_NOTHING_LENT: Mapping[int, Lent] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Buffer:
    """The memory of an allocation."""

    slot: int
    elements: int
    dtype: np.dtype[Any]
    fill: float | None
    """The value of unwritten elements; None if they are never read."""
    shared: int
    """The tensor's index among the tensors that cores share; -1 for all other tensors."""

    @property
    def size(self) -> int:
        """The size of the memory in bytes."""
        return self.elements * self.dtype.itemsize

    def make(self) -> Array:
        memory = RESULTS.take(self.size)
        if self.fill is not None:
            memory.view(self.dtype).fill(self.fill)
        return memory


@dataclass(frozen=True, slots=True)
class Held:
    """A tensor that a run writes, and the positions between which the tensor keeps its contents.

    Outside of these positions in the kernel's body, the memory may belong to another tensor.
    """

    slot: int
    """The slot (index in the run's environment) of the tensor's bytes."""
    first: int
    """The position in the body from which the tensor keeps its contents, up to position `last`.

    -1 for tensors that are defined when the run begins, or that outlive it.
    """
    last: int
    unwritten: Array | None
    """The value of an unwritten element, as an array; None for an argument."""

    def clear(self, env: Env) -> None:
        """Fill the tensor with the value of unwritten memory."""
        if self.unwritten is not None:
            env[self.slot].view(self.unwritten.dtype)[...] = self.unwritten


@dataclass(slots=True)
class _Listening:
    plan: Plan
    listener: Listener

    def before(self, op: Operation, env: Env) -> None:
        pass

    def after(self, op: Operation, env: Env) -> None:
        if isinstance(op, (NisaOp, DevicePrintOp)):
            self.listener.did_run(op, self.plan.written_by(op, env))


class Plan:
    """A compiled kernel. Several threads may call `run` at the same time.

    A plan changes once, when it adopts native code; this may also move tensors in the arena. Runs
    that have begun are not affected.
    """

    def __init__(self, kernel: KernelOp, *, precise: bool = True, launch: Sequence[KernelOp] = ()):
        """Compile `kernel`.

        Args:
            kernel: a verified kernel.
            precise: keep low-precision tensors in their own data type; False keeps them in
                float32 (`NKI_PRECISE_FP=0`).
            launch: the programs of all cores, if there are several.
        """
        self.kernel = kernel
        self.precise = precise
        self.slots = slots = Slots(kernel, precise, launch)
        self.body = compile_body(slots, StepForms(slots, bind), kernel.body.block)
        self.resolved = {
            op: found for body in self.body.all() for op, found in body.resolved.items()
        }
        """The operands with run-time addresses, by instruction."""
        self._count = sum(
            form.record is not None for body in self.body.all() for form in body.forms
        )
        lives = lifetimes(kernel, self.body)
        self.arguments: Sequence[Input] = [
            Input(slots, i, slots.base(value) in lives and lives[slots.base(value)].written)
            for i, value in enumerate(kernel.arguments)
        ]
        self._written = tuple(a.number for a in self.arguments if a.is_written)
        self._core = slots.named("core")
        self.watch = slots.named("watch")
        self._own: list[_Buffer] = []
        """The tensors that outlive a run, or that several cores access."""
        self._passing: list[_Buffer] = []
        """The temporary tensors, which are in an arena."""
        self.filled: dict[int, float] = {}
        """The value of unwritten elements, for each shared tensor that this core may read first.

        The key is the tensor's index among the shared tensors.
        """
        returned = {base_of(value) for value in kernel.return_op.values}
        self._lives: dict[int, Lifetime] = {}
        """The lifetimes of temporary tensors, by slot."""
        for op in kernel.operations:
            if type(op) is AllocOp:
                dtype, reach = info_of(op.result).dtype, slots.reach(op.result)
                stored = storage(dtype, precise=precise)
                slot = slots.base(op.result)
                life = lives.get(slot)
                read_first = life is None or life.read_first
                fill = unwritten(dtype) if reach.extended or read_first else None
                number = slots.shared_number(op.result)
                if fill is not None and number >= 0:
                    self.filled[number] = fill
                elements = reach.size // dtype.itemsize
                buffer = _Buffer(slot, elements, stored, fill, number)
                if life is None or number >= 0 or op.result in returned:
                    self._own.append(buffer)
                    continue
                self._passing.append(buffer)
                self._lives[buffer.slot] = life
                if fill is not None:
                    fill_unwritten = FillUnwritten(buffer.slot, elements, np.array(fill, stored))
                    self.body.before.setdefault(life.first, []).append(fill_unwritten)
        self._results: list[tuple[int, bool, bool]] = []
        self.result_types: list[tuple[tuple[int, ...], np.dtype[Any]]] = []
        """The shape and data type of each array that a run returns."""
        for value in kernel.return_op.values:
            info = info_of(value)
            slot = slots.view(base_of(value), slots.access(value), info.dtype)
            # An allocation belongs to this run; views, inputs and constants are copied.
            copied = not isinstance(value.owner, AllocOp) or slots.reach(value).extended
            boolean = info.dtype.kind is Kind.boolean
            self._results.append((slot, copied, boolean))
            stored = np.dtype(np.bool_) if boolean else storage(info.dtype, precise=precise)
            self.result_types.append((info.shape, stored))
        self._scratch = tuple(slots.scratch.items())
        self._workspace, self._arranged, self.bases = slots.new(), slots.new(), slots.new()
        self._native: Any = None
        """The plan as native code; None before that exists."""
        self.failed: Exception | None = None
        """The error that prevented native code; None without one."""
        self._runs = 0
        self._arrangement = self._arrange()
        passing = {buffer.slot for buffer in self._passing}
        self._lasting_views: list[Views] = []
        self._run_views: list[Views] = []
        for each in slots.views:
            lasting, changing = each.split(passing)
            self._lasting_views.append(lasting)
            self._run_views.append(changing)
        results = {slot for slot, _, _ in self._results}
        self._result_views = [each.subset(results) for each in self._run_views]
        self._states = tuple(slots.states.values())
        slots.close()

    @property
    def records(self) -> dict[Operation, Record]:
        """For each instruction, the record that describes its computation."""
        return {
            op: record
            for body in self.body.all()
            for op, record in zip(body.ops, body.records, strict=True)
            if record is not None
        }

    @property
    def lasting_slots(self) -> set[int]:
        """The slots that have the same memory in every run of a workspace (reused memory)."""
        passing = {buffer.slot for buffer in self._passing}
        return passing | {n for n, v in enumerate(self.slots.template) if v is not None}

    @property
    def written_arguments(self) -> set[int]:
        """The positions of the arguments that the kernel writes."""
        return set(self._written)

    def held(self) -> list[Held]:
        """Return the tensors that a run writes."""
        end = len(self.body.ops)
        found = [Held(self.arguments[n].slot, -1, end, None) for n in self._written]
        for buffer in (*self._own, *self._passing):
            life = self._lives.get(buffer.slot)
            first, last = (-1, end) if life is None else (life.first, life.last)
            content = UNWRITTEN_INTEGER if buffer.dtype.kind in "iu" else np.nan
            fill = np.array(content, buffer.dtype)
            found.append(Held(buffer.slot, first, last, fill))
        return found

    @property
    def states(self) -> list[int]:
        """The slots of arrays that are not tensors and keep their contents between instructions."""
        return [slot for slot, _ in self._states]

    @property
    def overwritten(self) -> list[int]:
        """The slots of tensors that are completely written before they are read."""
        buffers = (*self._own, *self._passing)
        return [buffer.slot for buffer in buffers if buffer.fill is None]

    def filling(self, contents: Mapping[int, float]) -> Plan:
        """Return a plan that also initialises shared tensors that other cores may read first.

        `contents`: the value of unwritten elements, by the index of the shared tensor.
        """
        plan = copy(self)
        plan._own = [
            replace(buffer, fill=contents.get(buffer.shared, buffer.fill)) for buffer in self._own
        ]
        return plan

    @cached_property
    def _uses(self) -> list[Use]:
        return uses_of(self.kernel, self.slots)

    def use(self, number: int) -> Use:
        """Return the kernel's use of an argument's memory."""
        return self._uses[number]

    def start(
        self,
        inputs: Sequence[Any],
        listener: Listener | None = None,
        *,
        core: Core = FIRST_CORE,
        memory: dict[int, Array] | None = None,
        written: Collection[int] = (),
        lent: Mapping[int, Lent] = _NOTHING_LENT,
        apart: bool = False,
        watched: bool = False,
    ) -> Env:
        """Return the environment of a run.

        Args:
            inputs: one array per kernel argument, of its shape and data type.
            listener: receives every operation that has run.
            core: the core that runs.
            memory: bytes of shared tensors and arguments, by number. Missing entries are added, for
                use by the other cores.
            written: arguments that another core writes.
            lent: for written arguments, by number, the `Lent` that saves overwritten contents.
                `memory` has the bytes of these arguments.
            apart: give every tensor its own initialised memory, for running single steps.
            watched: the caller inspects single operations, as a listener would.

        Written arguments that are not in `memory` are copied.
        """
        slots = self.slots
        watched = watched or apart or listener is not None
        code = None if watched else self._native_code()
        # Native code may have moved tensors; a workspace of another arrangement is then useless.
        arrangement = self._arrangement
        prepared = None if apart else WORKSPACES.take(self, core.rank)
        if prepared is None or prepared[self._arranged] is not arrangement:
            prepared = self._prepare(None if apart else arrangement)
        env = prepared.copy()
        env[self._core] = core
        if not apart:
            env[self._workspace] = prepared
        if listener is not None:
            env[self.body.observer] = _Listening(self, listener)
        if len(inputs) != len(self.arguments):
            raise InterpretationError(wrong_count(self.arguments, len(inputs)))
        shared: dict[int, Array] = {} if memory is None else memory
        for number, (array, argument) in enumerate(zip(inputs, self.arguments, strict=True)):
            if number not in shared:
                copied = argument.is_written or number in written
                # Other cores may use more of it.
                use = self.use if len(slots.launch) < 2 else all_of_it
                shared[number] = argument.bytes_of(array, copied, use)
            env[argument.slot] = shared[number]
        for number, one in lent.items():
            slot = slots.lent.get(self.arguments[number].value)
            if slot is not None:
                env[slot] = one
        for buffer in self._own:
            content = shared.get(buffer.shared)
            if content is None:
                content = buffer.make()
                if buffer.shared >= 0:
                    shared[buffer.shared] = content
            env[buffer.slot] = content
        for slot, initial in self._states:
            env[slot] = initial()
        if code is None:
            _fill_views(self._run_views, env)
        else:
            # Native code uses addresses instead of views.
            _fill_views(self._result_views if code.complete else self._run_views, env)
            code.enter(prepared, env)
        return env

    @property
    def backend(self) -> BackendReport:
        """The backend of the plan's next run."""
        count = self._count
        code = None if wanted() == NUMPY else self._native
        if code is None:
            failure = None if self.failed is None else str(self.failed)
            return BackendReport(0, count, {}, failure)
        return BackendReport(code.count, count - code.count, code.refused)

    def native_elements(self, env: Env) -> int:
        """Return the number of elements that native code computes; loop bodies count once."""
        return 0 if env[self.body.native] is None else self._native.program.elements

    def _native_code(self) -> Any:
        backend = wanted()
        if backend == NUMPY:
            return None
        self._runs += 1
        if self._native is None and backend == NATIVE:
            self.adopt(native().make(self))
        if self._native is None and self._runs == WORTH_IT and is_installed():
            native().make_later(self)
        return self._native

    def adopt(self, code: Any) -> None:
        """Use native code from the next run on, or record why there is none."""
        if isinstance(code, Exception):
            self.failed = code
            return
        for slot, (first, last) in code.lives.items():
            life = self._lives.get(slot)
            if life is not None:
                first, last = min(life.first, first), max(life.last, last)
                self._lives[slot] = replace(life, first=first, last=last)
        self._arrangement = self._arrange()
        self._native = code

    def _arrange(self) -> Arrangement:
        return arrange([(b.slot, b.size, self._lives[b.slot]) for b in self._passing])

    @property
    def private_slots(self) -> set[int]:
        """The slots of tensors and states that no other core accesses."""
        return {b.slot for b in self._passing} | {slot for slot, _ in self._states}

    def bytes_of_passing(self) -> dict[int, int]:
        """Return the bytes of each temporary tensor, by slot, except tensors that a run returns."""
        returned = {self.slots.base(base_of(value)) for value in self.kernel.return_op.values}
        return {b.slot: b.size for b in self._passing if b.slot not in returned}

    def _prepare(self, arrangement: Arrangement | None) -> Env:
        """Return the part of an environment that runs reuse: the memory of temporary tensors.

        Without an arrangement, each temporary tensor has its own memory.
        """
        env = self.slots.template.copy()
        if arrangement is None:
            for buffer in self._passing:
                env[buffer.slot] = buffer.make()
        else:
            env[self._arranged] = arrangement
            arena, offsets = aligned(arrangement.size), arrangement.offsets
            for buffer in self._passing:
                at = offsets[buffer.slot]
                env[buffer.slot] = arena[at : at + buffer.size]
        for (shape, _), slot in self._scratch:
            env[slot] = np.empty(shape, np.float32)
        _fill_views(self._lasting_views, env)
        return env

    def finish(self, env: Env) -> None:
        """Cache the workspace of a completed run for the next run.

        The workspace's tiles must not be accessed afterwards, except the results.
        """
        if env[self.body.observer] is None:
            rank = env[self._core].rank
            prepared = env[self._workspace]
            WORKSPACES.give(self, rank, prepared, prepared[self._arranged].size)

    @property
    def inputs(self) -> list[tuple[str, bool]]:
        """The name of each input, and whether the kernel writes the input."""
        return [(argument.name, argument.is_written) for argument in self.arguments]

    def run(
        self,
        inputs: Sequence[Any],
        listener: Listener | None = None,
        finish: Callable[[list[Array]], Any] = list,
    ) -> Any:
        """Run the kernel on one core.

        Args:
            inputs: one array per kernel argument, of its shape and data type.
            listener: receives every operation that has run.
            finish: converts the results, in order, to the returned value.

        Inputs that the kernel writes are updated after a complete run. An exception, including one
        of `finish`, restores them. Other inputs are never written.
        """
        if not self._written:
            return finish(self._run(self.start(inputs, listener)))

        def run(loan: Loan) -> Any:
            memory, lent = lend([self], loan, inputs, self._written)
            return finish(self._run(self.start(inputs, listener, memory=memory, lent=lent)))

        return Loan().run(run)

    def _run(self, env: Env) -> list[Array]:
        if self.body.drivers:
            untrapped(run_together, [(FIRST_CORE, self.body.drive(env))])
        else:
            untrapped(self.body.run, env)
        results = self.results(env)
        self.finish(env)
        return results

    def copy_back(
        self, loan: Loan, inputs: Sequence[Any], env: Env, written: Collection[int]
    ) -> None:
        """Copy written inputs back to the caller's arrays, after a run on copies."""
        for number in written:
            argument = self.arguments[number]
            array = argument.plain(inputs[number])
            loan.before.keep(array)
            array[...] = argument.contents(env[argument.slot], array)

    def results(self, env: Env) -> list[Array]:
        """Return the kernel's results."""
        results: list[Array] = []
        for slot, copied, boolean in self._results:
            result = env[slot].copy() if copied else env[slot]
            results.append(result.view(np.bool_) if boolean else result)
        return results

    def written_by(self, op: Operation, env: Env) -> list[Array]:
        """Return the tiles that an operation has written, as arrays of the stored data types."""
        resolved = self.resolved_in(op)
        return [
            resolved[value].values(env) if value in resolved else self.array_of(value, env)
            for value, role in reads_and_writes(op)
            if role is not Role.read
        ]

    def resolved_in(self, op: Operation) -> dict[SSAValue, Indirect]:
        """Return the operands of `op` that have run-time addresses, each with its `Indirect`."""
        return dict(self.resolved.get(op, ()))

    def array_of(self, value: SSAValue, env: Env) -> Array:
        """Return a tile with a known address as an array of its stored data type."""
        stored = storage(info_of(value).dtype, precise=self.precise)
        raw = env[self.slots.base(base_of(value))]
        return strided(raw, self.slots.access(value), stored)


def _fill_views(views: Iterable[Views], env: Env) -> None:
    """Put views into their slots: views of the arrays that other slots hold."""
    for each in views:
        each.fill(env)


def lend(
    plans: Sequence[Plan], loan: Loan, inputs: Sequence[Any], written: Collection[int]
) -> tuple[dict[int, Array], dict[int, Lent]]:
    """Return the bytes of a run's inputs, and the `Lent` of each written input.

    Args:
        plans: the plans of all cores.
        loan: returns the arrays to the caller.
        inputs: one array per kernel argument, of its shape and data type.
        written: the arguments that one of the cores writes.

    Raises InterpretationError for invalid inputs.
    """
    arguments = plans[0].arguments
    if len(inputs) != len(arguments):
        raise InterpretationError(wrong_count(arguments, len(inputs)))
    memory: dict[int, Array] = {}
    lent: dict[int, Lent] = {}

    def use(number: int) -> Use:
        return Use.together([plan.use(number) for plan in plans])

    for number, (array, argument) in enumerate(zip(inputs, arguments, strict=True)):
        if number in written:
            memory[number], lent[number] = argument.lend(array, loan, use(number))
        else:
            memory[number] = argument.bytes_of(array, False, use)
    return memory, lent


def launched_together(plans: Sequence[Plan]) -> tuple[Plan, ...]:
    """Return the plans of the cores of one launch, by core.

    A shared tensor that any core might read before it is written is initialised by all cores.
    """
    filled = {number: fill for plan in plans for number, fill in plan.filled.items()}
    return tuple(plan.filling(filled) for plan in plans)
