"""Finds races: two cores that use the same bytes of shared HBM without a barrier between them.

The bytes that both cores may touch between two barriers are determined before a run; only accesses
to these bytes are tracked. A write that changes nothing is not a race: kernels may let both cores
write the same numbers to a tensor that both cores continue to use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.ncc import MEETINGS
from nkijit.dialects.nisa.cores import CoreBarrierOp
from nkijit.dialects.nki.views import ViewOp, base_of, selectable
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.bytes.footprints import Cells, extent_of
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.records.environment import Array, Env, Slots
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.interpret.records.indirect import index_reader
from nkijit.passes.interpret.records.machine import place_of
from nkijit.passes.verify.cores import read_race, write_race

_MEETINGS = frozenset(MEETINGS)

Tell = Callable[[Diagnostic], None]
"""Receives the races of a run, which continues after a race."""


@dataclass(frozen=True, slots=True)
class _Use:
    """An instruction's use of a shared tensor. A unit is the tensor's smallest element."""

    tensor: int
    value: SSAValue
    writes: bool
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    size: int
    """The number of units per element."""

    @staticmethod
    def of(slots: Slots, tensor: int, unit: int, value: SSAValue, role: Role) -> _Use:
        access, size = slots.access(value), info_of(value).dtype.itemsize // unit
        owner = value.owner
        if isinstance(owner, ViewOp) and owner.dynamic is not None:
            access = selectable(access, owner.dynamic)
        writes = role is not Role.read
        return _Use(tensor, value, writes, access.shape, access.strides, access.offset, size)

    def units(self, marks: Array) -> Array:
        """Return the marks of all elements that the operand may touch; the last axis has units."""
        item = marks.itemsize
        step = self.size * item
        strides = (*(stride * step for stride in self.strides), item)
        return np.ndarray((*self.shape, self.size), marks.dtype, marks, self.offset * step, strides)

    def elements(self, memory: Array, itemsize: int) -> Array:
        """Return the bits of all elements that the operand may touch."""
        strides = tuple(stride * itemsize for stride in self.strides)
        return np.ndarray(self.shape, f"u{itemsize}", memory, self.offset * itemsize, strides)


@dataclass(frozen=True, slots=True)
class Contested:
    """Accesses of several cores to the same bytes of shared HBM without a barrier between them."""

    units: dict[int, int]
    """The size of a unit (the smallest element of a tensor) in bytes, by the tensor's number."""
    uses: Sequence[dict[Operation, list[_Use]]]
    """For each core, the operations to track, each with its uses of shared tensors."""

    def __bool__(self) -> bool:
        return bool(self.units)


class _Access(NamedTuple):
    op: Operation
    value: SSAValue
    role: Role
    phase: int
    """The number of barriers for the tensor that certainly precede the operation."""


def contested_tensors(plans: Sequence[Plan]) -> Contested:
    """Return the uses of shared tensors in which a core may write bytes that another core uses."""
    found = _accesses(plans) if len(plans) > 1 else {}
    units: dict[int, int] = {}
    uses: list[dict[Operation, list[_Use]]] = [{} for _ in plans]
    for tensor, by_core in found.items():
        watched = _watched(plans, by_core)
        if not any(watched):
            continue
        unit = min(info_of(a.value).dtype.itemsize for accesses in by_core for a in accesses)
        units[tensor] = unit
        for plan, accesses, of_core in zip(plans, watched, uses, strict=True):
            for op, value, role, _ in accesses:
                use = _Use.of(plan.slots, tensor, unit, value, role)
                of_core.setdefault(op, []).append(use)
    return Contested(units, uses)


def _accesses(plans: Sequence[Plan]) -> dict[int, list[list[_Access]]]:
    """Return the uses of tensors that all cores use and one writes, by tensor and core."""
    barriers = [_barriers(plan) for plan in plans]
    in_phases = barriers[0] is not None and all(other == barriers[0] for other in barriers)
    found: dict[int, list[list[_Access]]] = {}
    for core, plan in enumerate(plans):
        phases: dict[int, int] = {}
        for op in plan.kernel.operations:
            if not is_instruction(op):
                continue
            if type(op) in _MEETINGS:
                if in_phases and isinstance(op, CoreBarrierOp):
                    tensor = plan.slots.shared_number(base_of(op.data))
                    phases[tensor] = phases.get(tensor, 0) + 1
                continue
            for value, role in reads_and_writes(op):
                tensor = plan.slots.shared_number(base_of(value))
                if tensor >= 0:
                    accesses = found.setdefault(tensor, [[] for _ in plans])[core]
                    accesses.append(_Access(op, value, role, phases.get(tensor, 0)))
    return {
        tensor: by_core
        for tensor, by_core in sorted(found.items())
        if all(by_core) and any(a.role is not Role.read for of in by_core for a in of)
    }


def _barriers(plan: Plan) -> list[int] | None:
    """Return the tensors of a core's barriers in order; None if known only at run time."""
    block = plan.kernel.body.block
    barriers = [op for op in plan.kernel.operations if isinstance(op, CoreBarrierOp)]
    if any(op.parent_block() is not block for op in barriers):
        return None
    return [plan.slots.shared_number(base_of(op.data)) for op in barriers]


def _watched(plans: Sequence[Plan], by_core: list[list[_Access]]) -> list[list[_Access]]:
    """Return a tensor's uses that may conflict with a use by another core in the same phase."""
    reach = plans[0].slots.reach(base_of(by_core[0][0].value))
    extents = {id(a.value): extent_of(a.value, reach) for accesses in by_core for a in accesses}
    cells = Cells(reach, list(dict.fromkeys(extents.values())))
    if not cells.exact:
        return by_core
    footprints = {extent: cells.footprint(extent) for extent in set(extents.values())}
    # By kind of use and core: the last phase in which each cell was used.
    used = [[np.full(cells.count, -1, np.int32) for _ in by_core] for _ in range(2)]
    watched: list[list[_Access]] = [[] for _ in by_core]
    phases: dict[int, list[list[_Access]]] = {}
    for core, accesses in enumerate(by_core):
        for access in accesses:
            phases.setdefault(access.phase, [[] for _ in by_core])[core].append(access)
    for phase, here in phases.items():
        for core, accesses in enumerate(here):
            for access in accesses:
                marks = used[access.role is not Role.read][core]
                footprints[extents[id(access.value)]].part(marks)[...] = phase
        for core, accesses in enumerate(here):
            known: dict[tuple[int, bool], bool] = {}
            for access in accesses:
                writes = access.role is not Role.read
                key = id(access.value), writes
                if key not in known:
                    footprint = footprints[extents[id(access.value)]]
                    known[key] = any(
                        (footprint.part(marks) == phase).any()
                        for kind in (used if writes else used[1:])
                        for other, marks in enumerate(kind)
                        if other != core
                    )
                if known[key]:
                    watched[core].append(access)
    return watched


@dataclass(slots=True)
class _Marks:
    """For one core and tensor, the last operation that wrote or read each unit (a mark per unit).

    Operations are numbered from 1.
    """

    units: int
    dtype: np.dtype[Any]
    written: Array | None = None
    read: Array | None = None

    def to_set(self, writes: bool) -> Array:
        """Return the marks of writes or of reads; they are allocated when first used."""
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
    """Tracks the accesses to the memory that the cores of a rank share."""

    memory: dict[int, Array]
    contested: Contested
    cores: int
    operations: int
    """The number of operations of all cores, i.e. the largest possible mark."""
    tell: Tell | None = None
    """Receives races; None if a race ends the run."""
    reported: set[tuple[Operation, Operation, str]] = field(
        default_factory=set[tuple[Operation, Operation, str]]
    )
    _numbers: dict[Operation, int] = field(default_factory=dict[Operation, int])
    _ops: list[Operation] = field(default_factory=list[Operation])
    _marks: dict[tuple[int, int], _Marks] = field(default_factory=dict[tuple[int, int], _Marks])

    def of_core(self, plan: Plan, core: int) -> CoreWatch:
        """Return the observer of one core."""
        return CoreWatch(self, plan, core)

    def forget(self, tensor: int) -> None:
        """Forget the earlier uses of a tensor, which a barrier separates from later uses."""
        for core in range(self.cores):
            self._marks.pop((tensor, core), None)

    def marks(self, tensor: int, core: int) -> _Marks:
        """Return the marks of a core's uses of a tensor since the last barrier."""
        marks = self._marks.get((tensor, core))
        if marks is None:
            units = self.memory[tensor].size // self.contested.units[tensor]
            marks = self._marks[tensor, core] = _Marks(units, np.min_scalar_type(self.operations))
        return marks

    def number(self, op: Operation) -> int:
        """Return the mark (number) of an operation."""
        number = self._numbers.get(op)
        if number is None:
            self._ops.append(op)
            number = self._numbers[op] = len(self._ops)
        return number

    def op(self, number: int) -> Operation:
        """Return the operation with a mark (number)."""
        return self._ops[number - 1]


@dataclass(frozen=True, slots=True)
class _Suspect:
    """A write to bytes that another core has used, which is a race if it changes their contents."""

    use: _Use
    index: Any
    where: Array
    before: Array
    other: Operation
    access: str
    """The other core's access: `writes` or `reads`."""


@dataclass(slots=True)
class CoreWatch:
    """Tracks the accesses of one core to shared memory."""

    watch: RaceWatch
    plan: Plan
    core: int
    _suspects: list[_Suspect] = field(default_factory=list[_Suspect])

    def before(self, op: Operation, env: Env) -> None:
        """Compare an operation's accesses with those of other cores, before the operation runs."""
        uses = self.watch.contested.uses[self.core].get(op)
        if uses is None:
            return
        placed = [(use, self._index(use, env)) for use in uses]
        for use, index in placed:
            self._check(op, use, index)
        for use, index in placed:
            marks = self.watch.marks(use.tensor, self.core).to_set(use.writes)
            use.units(marks)[index] = self.watch.number(op)

    def after(self, op: Operation, env: Env) -> None:
        """Report the operation's writes that changed bytes which another core has used."""
        for suspect in self._suspects:
            now = self._bits(suspect.use)[suspect.index]
            if (now != suspect.before)[suspect.where].any():
                self._report(op, suspect.use, suspect.other, suspect.access)
        self._suspects.clear()

    def _check(self, op: Operation, use: _Use, index: Any) -> None:
        own = self.watch.marks(use.tensor, self.core).written
        for core in range(self.watch.cores):
            if core == self.core:
                continue
            marks_of_other = self.watch.marks(use.tensor, core)
            kinds = ((marks_of_other.written, "writes"), (marks_of_other.read, "reads"))
            for marks, access in kinds if use.writes else kinds[:1]:
                if marks is None:
                    continue
                found = use.units(marks)[index]
                if not found.max():
                    continue
                if use.writes:
                    where, before = (found != 0).any(-1), self._bits(use)[index].copy()
                    other = self.watch.op(int(found[found != 0][0]))
                    self._suspects.append(_Suspect(use, index, where, before, other, access))
                    continue
                if own is not None:
                    # Both cores wrote equal numbers, as the race would have been reported
                    # otherwise.
                    found = np.where(use.units(own)[index] != 0, 0, found)
                if found.any():
                    other = self.watch.op(int(found[found != 0][0]))
                    self._report(op, use, other, access)

    def _report(self, op: Operation, use: _Use, other: Operation, access: str) -> None:
        """End the run because of a race, or report the race, once for each pair of instructions."""
        reported, tell = self.watch.reported, self.watch.tell
        if tell is None:
            raise self._race(op, use, other, access)
        if (op, other, access) in reported:
            return
        reported.add((op, other, access))
        name = base_of(use.value).name_hint or "?"
        if not use.writes:
            tell(read_race(self.core, op, other, name))
        elif access == "reads":
            tell(read_race(1 - self.core, other, op, name))
        else:
            first, second = (op, other) if self.core == 0 else (other, op)
            tell(write_race(first, second, name, severity="error"))

    def _race(self, op: Operation, use: _Use, other: Operation, access: str) -> InterpretationError:
        own_access = "writes" if use.writes else "reads"
        name = base_of(use.value).name_hint or "?"
        return InterpretationError(
            f"core {self.core} {own_access} bytes of shared tensor '{name}' in {place_of(op)}, "
            f"which the other core {access} in {place_of(other)}, without nisa.core_barrier "
            "between them"
        )

    def _bits(self, use: _Use) -> Array:
        stored = self.plan.slots.stored(info_of(use.value).dtype)
        return use.elements(self.watch.memory[use.tensor], stored.itemsize)

    def _index(self, use: _Use, env: Env) -> Any:
        """Return the index of the elements that the operand touches in this run."""
        owner = use.value.owner
        if not isinstance(owner, ViewOp) or owner.dynamic is None:
            return ...
        # An index out of bounds is reported, or skipped, when the operation runs.
        index = index_reader(self.plan.slots, owner, owner, owner.dynamic)(env)
        return np.clip(index, 0, owner.dynamic.bound - 1)
