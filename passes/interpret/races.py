"""Two cores that use the same bytes of shared HBM without a barrier between them.

What both cores might touch is found before anything runs; only tensors in which these parts
meet are watched. A write that changes nothing races with nobody: kernels may let both cores
write the same numbers into a tensor that both of them go on with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.ncc import MEETINGS
from nkijit.dialects.nki.views import ViewOp, base_of, selectable
from nkijit.dialects.tiles import info_of
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.interpret.environment import Array, Env, Slots
from nkijit.passes.interpret.errors import InterpretationError
from nkijit.passes.interpret.indirect import index_reader
from nkijit.passes.interpret.machine import place_of
from nkijit.passes.interpret.plan import Plan
from nkijit.passes.verify.cores import read_race, write_race

Tell = Callable[[Diagnostic], None]
"""Gets the errors that a run goes on with."""


@dataclass(frozen=True, slots=True)
class _Use:
    """What an instruction does to a shared tensor, in units of the tensor's smallest element."""

    tensor: int
    value: SSAValue
    writes: bool
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    size: int
    """Units of an element."""

    @staticmethod
    def of(slots: Slots, tensor: int, unit: int, value: SSAValue, role: Role) -> _Use:
        access, size = slots.access(value), info_of(value).dtype.itemsize // unit
        owner = value.owner
        if isinstance(owner, ViewOp) and owner.dynamic is not None:
            access = selectable(access, owner.dynamic)
        writes = role is not Role.read
        return _Use(tensor, value, writes, access.shape, access.strides, access.offset, size)

    def units(self, marks: Array) -> Array:
        """The marks of everything that the operand might touch, those of an element last."""
        item = marks.itemsize
        step = self.size * item
        strides = (*(stride * step for stride in self.strides), item)
        return np.ndarray((*self.shape, self.size), marks.dtype, marks, self.offset * step, strides)

    def elements(self, memory: Array, itemsize: int) -> Array:
        """The bits of everything that the operand might touch."""
        strides = tuple(stride * itemsize for stride in self.strides)
        return np.ndarray(self.shape, f"u{itemsize}", memory, self.offset * itemsize, strides)


def _uses(plan: Plan, op: Operation, units: dict[int, int]) -> Iterator[_Use]:
    if not isinstance(op, NisaOp) or isinstance(op, MEETINGS):
        return
    for value, role in reads_and_writes(op):
        tensor = plan.slots.shared_number(base_of(value))
        if tensor in units:
            yield _Use.of(plan.slots, tensor, units[tensor], value, role)


def contested_tensors(plans: Sequence[Plan]) -> dict[int, int]:
    """The shared tensors in which a core might write what another one uses.

    By number, with the bytes of the smallest element that one of them sees there.
    """
    units = _shared_by_all(plans) if len(plans) > 1 else {}
    used: dict[int, list[tuple[Array, Array]]] = {}
    for tensor, unit in units.items():
        slots = plans[0].slots
        count = slots.reach(slots.shared_tensors()[tensor]).size // unit
        used[tensor] = [(np.zeros(count, np.bool_), np.zeros(count, np.bool_)) for _ in plans]
    for core, plan in enumerate(plans):
        seen: set[tuple[int, SSAValue, bool]] = set()
        for use in (use for op in plan.kernel.operations for use in _uses(plan, op, units)):
            key = (use.tensor, use.value, use.writes)
            if key not in seen:
                seen.add(key)
                use.units(used[use.tensor][core][use.writes])[...] = True
    return {
        tensor: units[tensor]
        for tensor, cores in used.items()
        if any((one[1] & (two[0] | two[1])).any() for one, two in permutations(cores, 2))
    }


def _shared_by_all(plans: Sequence[Plan]) -> dict[int, int]:
    """The tensors that all cores use and one of them writes, with the smallest element's bytes."""
    units: dict[int, int] = {}
    users: list[set[int]] = []
    written: set[int] = set()
    for plan in plans:
        users.append(set())
        for op in plan.kernel.operations:
            if not isinstance(op, NisaOp) or isinstance(op, MEETINGS):
                continue
            for value, role in reads_and_writes(op):
                tensor = plan.slots.shared_number(base_of(value))
                if tensor < 0:
                    continue
                users[-1].add(tensor)
                size = info_of(value).dtype.itemsize
                units[tensor] = min(size, units.get(tensor, size))
                if role is not Role.read:
                    written.add(tensor)
    return {tensor: units[tensor] for tensor in written.intersection(*users)}


@dataclass(slots=True)
class _Marks:
    """For each unit of a tensor the last operation of a core that wrote or read it, from 1 on."""

    units: int
    dtype: np.dtype[Any]
    written: Array | None = None
    read: Array | None = None

    def to_set(self, writes: bool) -> Array:
        """The marks of one kind; there are none before the core has used the tensor."""
        marks = self.written if writes else self.read
        if marks is None:
            marks = np.zeros(self.units, self.dtype)
            if writes:
                self.written = marks
            else:
                self.read = marks
        return marks


@dataclass(slots=True)
class RaceWatch:
    """Watches the memory that the cores of a rank share."""

    memory: dict[int, Array]
    contested: dict[int, int]
    cores: int
    operations: int
    """Operations of all cores: as many marks there can be."""
    tell: Tell | None = None
    """Gets the races, if they do not end the run."""
    told: set[tuple[Operation, Operation, str]] = field(
        default_factory=set[tuple[Operation, Operation, str]]
    )
    _numbers: dict[Operation, int] = field(default_factory=dict[Operation, int])
    _ops: list[Operation] = field(default_factory=list[Operation])
    _marks: dict[tuple[int, int], _Marks] = field(default_factory=dict[tuple[int, int], _Marks])

    def of_core(self, plan: Plan, core: int) -> CoreWatch:
        """The observer of one core."""
        return CoreWatch(self, plan, core)

    def forget(self, tensor: int) -> None:
        """A barrier: what was before it is in order with what comes after it."""
        for core in range(self.cores):
            self._marks.pop((tensor, core), None)

    def marks(self, tensor: int, core: int) -> _Marks:
        """What is known of a core's use of a tensor since the last barrier."""
        marks = self._marks.get((tensor, core))
        if marks is None:
            units = self.memory[tensor].size // self.contested[tensor]
            marks = self._marks[tensor, core] = _Marks(units, np.min_scalar_type(self.operations))
        return marks

    def number(self, op: Operation) -> int:
        """The mark of an operation."""
        number = self._numbers.get(op)
        if number is None:
            self._ops.append(op)
            number = self._numbers[op] = len(self._ops)
        return number

    def op(self, number: int) -> Operation:
        """The operation with this mark."""
        return self._ops[number - 1]


@dataclass(frozen=True, slots=True)
class _Suspect:
    """A write to what another core has used: a race if it changes anything there."""

    use: _Use
    index: Any
    where: Array
    before: Array
    other: Operation
    what: str
    """What the other core does there: `writes` or `reads`."""


@dataclass(slots=True)
class CoreWatch:
    """Watches what one core does with shared memory."""

    watch: RaceWatch
    plan: Plan
    core: int
    _known: dict[Operation, list[_Use]] = field(default_factory=dict[Operation, list[_Use]])
    _suspects: list[_Suspect] = field(default_factory=list[_Suspect])

    def before(self, op: Operation, env: Env) -> None:
        """Compare the operation's accesses with those of the other cores."""
        uses = self._known.get(op)
        if uses is None:
            uses = self._known[op] = list(_uses(self.plan, op, self.watch.contested))
        if not uses:
            return
        placed = [(use, self._index(use, env)) for use in uses]
        for use, index in placed:
            self._check(op, use, index)
        for use, index in placed:
            marks = self.watch.marks(use.tensor, self.core).to_set(use.writes)
            use.units(marks)[index] = self.watch.number(op)

    def after(self, op: Operation, env: Env) -> None:
        """Tell whether a write to what another core has used has changed anything."""
        for suspect in self._suspects:
            now = self._bits(suspect.use)[suspect.index]
            if (now != suspect.before)[suspect.where].any():
                self._report(op, suspect.use, suspect.other, suspect.what)
        self._suspects.clear()

    def _check(self, op: Operation, use: _Use, index: Any) -> None:
        mine = self.watch.marks(use.tensor, self.core).written
        for core in range(self.watch.cores):
            if core == self.core:
                continue
            theirs = self.watch.marks(use.tensor, core)
            kinds = ((theirs.written, "writes"), (theirs.read, "reads"))
            for marks, what in kinds if use.writes else kinds[:1]:
                if marks is None:
                    continue
                found = use.units(marks)[index]
                if not found.max():
                    continue
                if use.writes:
                    where, before = (found != 0).any(-1), self._bits(use)[index].copy()
                    other = self.watch.op(int(found[found != 0][0]))
                    self._suspects.append(_Suspect(use, index, where, before, other, what))
                    continue
                if mine is not None:
                    # Written by both cores: the same numbers, or it would have been reported.
                    found = np.where(use.units(mine)[index] != 0, 0, found)
                if found.any():
                    other = self.watch.op(int(found[found != 0][0]))
                    self._report(op, use, other, what)

    def _report(self, op: Operation, use: _Use, other: Operation, what: str) -> None:
        """End the run for a race, or tell of it, once for the two instructions."""
        told, tell = self.watch.told, self.watch.tell
        if tell is None:
            raise self._race(op, use, other, what)
        if (op, other, what) in told:
            return
        told.add((op, other, what))
        name = base_of(use.value).name_hint or "?"
        if not use.writes:
            tell(read_race(self.core, op, other, name))
        elif what == "reads":
            tell(read_race(1 - self.core, other, op, name))
        else:
            first, second = (op, other) if self.core == 0 else (other, op)
            tell(write_race(first, second, name, severity="error"))

    def _race(self, op: Operation, use: _Use, other: Operation, what: str) -> InterpretationError:
        mine = "writes" if use.writes else "reads"
        name = base_of(use.value).name_hint or "?"
        return InterpretationError(
            f"core {self.core} {mine} bytes of shared tensor '{name}' in {place_of(op)}, which "
            f"the other core {what} in {place_of(other)}, without nisa.core_barrier between them"
        )

    def _bits(self, use: _Use) -> Array:
        stored = self.plan.slots.stored(info_of(use.value).dtype)
        return use.elements(self.watch.memory[use.tensor], stored.itemsize)

    def _index(self, use: _Use, env: Env) -> Any:
        """Which of what the operand might touch it touches now."""
        owner = use.value.owner
        if not isinstance(owner, ViewOp) or owner.dynamic is None:
            return ...
        # An index out of bounds is reported, or skipped, when the operation runs.
        index = index_reader(self.plan.slots, owner, owner, owner.dynamic)(env)
        return np.clip(index, 0, owner.dynamic.bound - 1)
