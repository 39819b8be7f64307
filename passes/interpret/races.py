"""Two cores that use the same bytes of shared HBM without a barrier between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.access import Indirection
from nkijit.dialects.declare import NisaOp
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.fields import Role
from nkijit.dialects.tiles import info_of
from nkijit.dialects.views import ViewOp, access_of, base_of
from nkijit.passes.interpret.binding import Array, Env
from nkijit.passes.interpret.errors import InterpretationError
from nkijit.passes.interpret.machine import place_of
from nkijit.passes.interpret.plan import Plan


def contested_tensors(plans: Sequence[Plan]) -> dict[int, int]:
    """The shared tensors that several cores use and at least one of them writes.

    By number, with the bytes of the smallest element that one of them sees there.
    """
    if len(plans) < 2:
        return {}
    sizes: dict[int, int] = {}
    users: list[set[int]] = []
    written: set[int] = set()
    for plan in plans:
        numbers = {base: number for number, base in enumerate(plan.compiler.shared_tensors())}
        used: set[int] = set()
        for op in plan.kernel.operations:
            if not isinstance(op, NisaOp):
                continue
            for value, role in reads_and_writes(op):
                number = numbers.get(base_of(value))
                if number is not None:
                    used.add(number)
                    size = info_of(value).dtype.itemsize
                    sizes[number] = min(size, sizes.get(number, size))
                    if role is not Role.read:
                        written.add(number)
        users.append(used)
    return {number: sizes[number] for number in written.intersection(*users)}


@dataclass(slots=True)
class _Marks:
    """For each element of a tensor, the last operation of each core that wrote or read it."""

    written: list[Array]
    read: list[Array]


@dataclass(slots=True)
class RaceWatch:
    """Watches the memory that the cores of a rank share."""

    memory: dict[int, Array]
    contested: dict[int, int]
    cores: int
    ops: list[Operation] = field(default_factory=list[Operation])
    _marks: dict[int, _Marks] = field(default_factory=dict[int, _Marks])

    def of_core(self, plan: Plan, core: int) -> CoreWatch:
        """The observer of one core."""
        return CoreWatch(self, plan, core)

    def forget(self, tensor: int) -> None:
        """A barrier: what was before it is in order with what comes behind it."""
        self._marks.pop(tensor, None)

    def marks(self, tensor: int) -> _Marks:
        """What is known of a tensor since the last barrier."""
        marks = self._marks.get(tensor)
        if marks is None:
            size = self.memory[tensor].size // self.contested[tensor]
            made = [[np.zeros(size, np.int32) for _ in range(self.cores)] for _ in range(2)]
            marks = self._marks[tensor] = _Marks(*made)
        return marks


@dataclass(slots=True)
class CoreWatch:
    """Watches what one core does with shared memory."""

    watch: RaceWatch
    plan: Plan
    core: int
    _uses: dict[Operation, list[tuple[int, SSAValue, Role]]] = field(
        default_factory=dict[Operation, list[tuple[int, SSAValue, Role]]]
    )

    def before(self, op: Operation, env: Env) -> None:
        """Compare the operation's accesses with those of the other cores."""
        for tensor, value, role in self._uses_of(op):
            marks = self.watch.marks(tensor)
            others = [c for c in range(self.watch.cores) if c != self.core]
            against = [(marks.written[c], "writes") for c in others]
            if role is not Role.read:
                against += [(marks.read[c], "reads") for c in others]
            for mark, what in against:
                found = self._located(tensor, value, mark, env)
                if found.any():
                    other = self.watch.ops[int(found[found != 0][0]) - 1]
                    mine = "reads" if role is Role.read else "writes"
                    name = base_of(value).name_hint or "?"
                    raise InterpretationError(
                        f"core {self.core} {mine} bytes of shared tensor '{name}' in "
                        f"{place_of(op)}, which the other core {what} in {place_of(other)}, "
                        "without nisa.core_barrier between them"
                    )
        for tensor, value, role in self._uses_of(op):
            marks = self.watch.marks(tensor)
            mark = (marks.read if role is Role.read else marks.written)[self.core]
            self.watch.ops.append(op)
            view, index = self._place(tensor, value, mark, env)
            view[index] = len(self.watch.ops)

    def after(self, op: Operation, env: Env) -> None:
        """Nothing more is known then."""

    def _uses_of(self, op: Operation) -> list[tuple[int, SSAValue, Role]]:
        found = self._uses.get(op)
        if found is None:
            found = self._uses[op] = []
            if isinstance(op, NisaOp) and op.name != "nisa.core_barrier":
                shared = self.plan.compiler.shared_tensors()
                for value, role in reads_and_writes(op):
                    base = base_of(value)
                    number = shared.index(base) if base in shared else -1
                    if number in self.watch.contested:
                        found.append((number, value, role))
        return found

    def _located(self, tensor: int, value: SSAValue, mark: Array, env: Env) -> Array:
        view, index = self._place(tensor, value, mark, env)
        return view[index]

    def _place(self, tensor: int, value: SSAValue, mark: Array, env: Env) -> tuple[Array, Any]:
        """A view of marks, and the index in it, that stand for what an operand touches."""
        info, access = info_of(value), access_of(value)
        size = info.dtype.itemsize // self.watch.contested[tensor]
        shape, strides, index = access.shape, access.strides, cast(Any, ...)
        owner = value.owner
        if isinstance(owner, ViewOp) and owner.dynamic is not None:
            part = owner.dynamic
            if part.indirection is Indirection.vector:
                shape, strides = shape[1:], strides[1:]
            shape, strides = (part.bound, *shape), (part.scale, *strides)
            # An index out of bounds is told, or skipped, when the operation runs.
            index = np.clip(self.plan.compiler.index_reader(owner)(env), 0, part.bound - 1)
        item = mark.itemsize
        view = np.ndarray(
            (*shape, size),
            mark.dtype,
            mark,
            access.offset * size * item,
            (*(stride * size * item for stride in strides), item),
        )
        return view, index
