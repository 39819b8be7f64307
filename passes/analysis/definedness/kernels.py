"""Uses of undefined values that are certain before a kernel runs.

A mark here means that a value is certainly undefined in every run that reaches the operation.
Addresses, predicates, trip counts and actions of other cores that are known only at run time leave
no mark.

Only tensors reachable from given sources are tracked, so a kernel that writes everything it reads
costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.access import AccessPattern, Indirection
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.declare.queries import skips_out_of_bounds
from nkijit.dialects.effects import Effect, effects
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.nisa.cores import CoreBarrierOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import DevicePrintOp, KernelOp, shared_tensors
from nkijit.dialects.nki.views import (
    ViewOp,
    access_of,
    base_of,
    index_of,
    reach_of,
    selectable,
)
from nkijit.dialects.reach import Reach
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.definedness.origins import Origins, Use, leaving
from nkijit.passes.analysis.definedness.parts import part_of
from nkijit.passes.analysis.definedness.shadow import (
    DEFINED,
    KEPT,
    MARK,
    UNWRITTEN,
    Marks,
    Shadow,
    distinct,
)
from nkijit.passes.analysis.definedness.tracker import Tracker
from nkijit.passes.analysis.flow.event_tree import EventTree, Repetition, event_tree, events_of
from nkijit.passes.analysis.flow.matmul_writes import where_matmuls_add

Mask = npt.NDArray[np.bool_]

MOST_BYTES = 1 << 26
"""Tensors of more bytes count as defined: their marks would not fit into memory."""
MOST_ROUNDS = 8
"""The largest number of walks over a loop's body.

If the marks still change then, all tensors that the loop writes count as defined.
"""


def reached_from(kernels: Sequence[KernelOp], sources: Iterable[SSAValue]) -> set[SSAValue]:
    """Return the tensors `sources` and all tensors that may receive data from them."""
    # Accumulators, keyed by their engine, carry data from one instruction to another.
    targets: dict[SSAValue | engine, set[SSAValue | engine]] = {}
    for op in _instructions(kernels):
        read = {base_of(e.value) for e in effects(op) if e.role is not Role.write}
        written = {base_of(e.value) for e in effects(op) if e.role is not Role.read}
        use = op.SPEC.accumulators
        into = written if use is None else {*written, use.engine}
        for base in read:
            targets.setdefault(base, set()).update(into)
        if use is not None:
            targets.setdefault(use.engine, set()).update(written)
    reached, new = set[SSAValue | engine](), list[SSAValue | engine](sources)
    while new:
        base = new.pop()
        if base not in reached:
            reached.add(base)
            new += targets.get(base, ())
    return {base for base in reached if isinstance(base, SSAValue)}


def _instructions(kernels: Sequence[KernelOp]) -> Iterator[NisaOp]:
    for kernel in kernels:
        yield from (op for op in kernel.operations if is_instruction(op))


def uses_of_undefined(
    kernels: Sequence[KernelOp],
    sources: Iterable[SSAValue],
    wrong: Collection[Operation] = frozenset(),
) -> list[Use]:
    """Return the uses of undefined values from `sources` that certainly happen in a launch.

    Args:
        kernels: the programs of the launch, one per core.
        sources: tensors that are read before they are written.
        wrong: instructions with other errors: their results count as defined.

    Returns:
        The uses in program order, then the uses of values that leave the kernel.
    """
    followed = reached_from(kernels, sources)
    origins = Origins()
    cores = [_Core(kernel, origins, followed, wrong) for kernel in kernels]
    for core in cores:
        core.meet([other for other in cores if other is not core])
    for core in cores:
        core.follow()
    return [*(use for core in cores for use in core.uses), *_leaving(cores, origins)]


def _leaving(cores: Sequence[_Core], origins: Origins) -> Iterator[Use]:
    for effect, how in leaving(cores[0].kernel):
        marks = _combined_marks(cores, effect.value)
        use = None if marks is None else origins.left(effect, how, marks)
        if use is not None:
            yield use


def _combined_marks(cores: Sequence[_Core], value: SSAValue) -> Marks | None:
    """Return the marks of a result, combined over all cores that write it."""
    first, base = cores[0], base_of(value)
    shadow = first.shadow(base)
    if shadow is None:
        return None
    size = info_of(value).dtype.itemsize
    access = shadow.reach.place(access_of(value), size)
    marks = shadow.read(access, size)
    for core in cores[1:] if base in first.shared else ():
        other = core.shadow(core.shared[first.shared.index(base)])
        if other is None:
            return None
        theirs = other.read(access, size)
        # An element that one core wrote has its marks; one that both wrote counts as defined.
        alone = np.where(marks == UNWRITTEN, theirs, MARK(DEFINED))
        marks = np.where(theirs == UNWRITTEN, marks, alone)
    return (
        marks if isinstance(base.owner, AllocOp) else _argument_marks(shadow, access, size, marks)
    )


def _argument_marks(shadow: Shadow, access: AccessPattern, size: int, marks: Marks) -> Marks:
    """Return the marks of an argument's view; unwritten elements of the argument are defined."""
    unwritten = marks == UNWRITTEN
    outside = shadow.outside(access, size)
    if outside is not None:
        unwritten &= ~outside
    return np.where(unwritten, MARK(DEFINED), marks)


class _Core(Tracker):
    """The marks of one core's memory, during a walk over its program."""

    def __init__(
        self,
        kernel: KernelOp,
        origins: Origins,
        followed: set[SSAValue],
        wrong: Collection[Operation],
    ):
        super().__init__(kernel, origins)
        self.uses: list[Use] = []
        self.shared = shared_tensors(kernel) if kernel.core[1] > 1 else []
        """The tensors that other cores may write, in an order that is equal on all cores."""
        self._followed = followed
        self._wrong = wrong
        self._shadows: dict[SSAValue, Shadow | None] = {}
        self._names: dict[SSAValue, list[SSAValue]] = {}
        """For each shared tensor, its SSA value in the kernel of each core, this core's first."""
        self._theirs: dict[SSAValue, Shadow] = {}
        """For each shared tensor, marks of bytes that other cores may write (and thus define)."""
        self._seen: set[tuple[Operation, str]] = set()
        self._certain = True
        """True while uses are reported; False while the marks in a loop may still change."""
        self._added: dict[Operation, Mask | bool | None] = {}

    def follow(self) -> None:
        """Walk the whole program of the core."""
        self._resolve_matmuls()
        program = event_tree(self.kernel.body.block, self._event)
        self._walk(program)

    def _event(self, op: Operation) -> Operation | None:
        if not (is_instruction(op) or isinstance(op, DevicePrintOp)):
            return None
        if isinstance(op, CoreBarrierOp):
            return None
        if any(base_of(effect.value) in self._followed for effect in effects(op)):
            return op
        # Other instructions may continue with accumulators that it sets.
        return op if is_instruction(op) and op.SPEC.accumulators is not None else None

    def _resolve_matmuls(self) -> None:
        self._added |= where_matmuls_add(self.kernel, self._wrong)

    # ---------------------------------------------------------------- walking

    def _walk(self, program: EventTree[Operation]) -> None:
        for sequence in program:
            for op in sequence.events:
                self._visit(op)
            if sequence.loop is not None:
                self._repeat(sequence.loop)

    def _repeat(self, loop: Repetition[Operation]) -> None:
        entry = self._saved(loop.body)
        self._walk(loop.body)
        if loop.most != 1:
            self._walk_again(loop.body)
        if loop.least == 0:
            self._join(entry)

    def _walk_again(self, body: EventTree[Operation]) -> None:
        """Walk further iterations of a loop, until the marks reach a fixed point."""
        reports, self._certain = self._certain, False
        for _ in range(MOST_ROUNDS):
            before = self._saved(body)
            self._walk(body)
            if not self._join(before):
                break
        else:
            for marks in self._marks_in(body).values():
                marks[...] = DEFINED
        self._certain = reports
        before = self._saved(body)
        self._walk(body)
        self._join(before)

    def _marks_in(self, body: EventTree[Operation]) -> dict[Any, Marks]:
        """Return the marks that a loop may change."""
        found: dict[Any, Marks] = {}
        for op in events_of(body):
            if is_instruction(op) and op.SPEC.accumulators is not None:
                found[op.SPEC.accumulators.engine.name] = self.accumulators_of(op)
            for effect in effects(op):
                shadow = self.shadow(base_of(effect.value))
                if effect.role is not Role.read and shadow is not None:
                    found[base_of(effect.value)] = shadow.marks
        return found

    def _saved(self, body: EventTree[Operation]) -> dict[Any, Marks]:
        return {key: marks.copy() for key, marks in self._marks_in(body).items()}

    def _join(self, other: dict[Any, Marks]) -> bool:
        """Intersect the marks with `other`; returns whether the result differs from `other`."""
        changed = False
        for key, before in other.items():
            now = self.accumulators[key] if isinstance(key, str) else self.shadow(key)
            assert now is not None
            marks = now.marks if isinstance(now, Shadow) else now
            np.minimum(marks, before, out=marks)
            changed = changed or not np.array_equal(marks, before)
        return changed

    def _visit(self, op: Operation) -> None:
        if not is_instruction(op):
            self.marks_read(op)
            return
        if op in self._wrong:
            for effect in effects(op):
                if effect.role is not Role.read:
                    self._write(effect.value, np.zeros(info_of(effect.value).shape, MARK), False)
            return
        moved = any(index_of(effect.value) is not None for effect in effects(op))
        uncertain = moved and skips_out_of_bounds(op)
        for effect, marks in list(self.written_by(op)):
            self._write(effect.value, marks, uncertain)

    # ---------------------------------------------------------------- memory

    def shadow(self, base: SSAValue) -> Shadow | None:
        """Return the marks of a tensor; None if the tensor is not tracked."""
        if base not in self._followed:
            return None
        if base not in self._shadows:
            owned = isinstance(base.owner, AllocOp)
            # In a shared argument, the marks distinguish the part that this core writes itself.
            mark = UNWRITTEN if owned or base in self.shared else DEFINED
            names = self._names.get(base, [base])
            reach = reach_of(*names)
            fits = reach.size <= MOST_BYTES
            self._shadows[base] = Shadow(names, reach, mark) if fits else None
        return self._shadows[base]

    def meet(self, others: Sequence[_Core]) -> None:
        """Record which memory the other cores may write, which counts as defined on this core."""
        for other in others:
            for mine, theirs in zip(self.shared, other.shared, strict=False):
                self._names.setdefault(mine, [mine]).append(theirs)
        for other in others:
            mine_of = dict(zip(other.shared, self.shared, strict=False))
            for op in _instructions([other.kernel]):
                for effect in effects(op):
                    mine = mine_of.get(base_of(effect.value))
                    if effect.role is Role.read or mine is None or mine not in self._followed:
                        continue
                    if mine not in self._theirs:
                        names = self._names[mine]
                        reach = reach_of(*names)
                        self._theirs[mine] = Shadow(names, reach, DEFINED, outside=DEFINED)
                    value, shadow = effect.value, self._theirs[mine]
                    everywhere, size = (
                        _everywhere(value, shadow.reach),
                        info_of(value).dtype.itemsize,
                    )
                    shadow.write(everywhere, size, np.ones((1,), MARK))

    def read(self, op: Operation, effect: Effect, *, least: bool = False) -> Marks:
        value = effect.value
        base, info = base_of(value), info_of(value)
        shadow = self.shadow(base)
        if shadow is None:
            return np.zeros(info.shape, MARK)
        everywhere, size = _everywhere(value, shadow.reach), info.dtype.itemsize
        marks = shadow.read(everywhere, size, least=least)
        theirs = self._theirs.get(base)
        if theirs is not None:
            marks = np.where(theirs.read(everywhere, size) != DEFINED, MARK(DEFINED), marks)
        if not isinstance(base.owner, AllocOp):
            marks = _argument_marks(shadow, everywhere, size, marks)
        if info.indirection is None:
            return marks
        # Any of the elements that an index can select, so only marks that all of them have.
        all_of_them = marks.min(axis=_selected_axes(info.indirection, marks.ndim), keepdims=True)
        if info.indirection is Indirection.scalar:
            return all_of_them[0]
        return np.broadcast_to(all_of_them, info.shape)

    def _write(self, value: SSAValue, marks: Marks, uncertain: bool) -> None:
        shadow, info = self.shadow(base_of(value)), info_of(value)
        if shadow is None:
            return
        access, size = _everywhere(value, shadow.reach), info.dtype.itemsize
        if info.indirection is None and not uncertain:
            shadow.write(access, size, marks)
            return
        # An element that may be written has only marks that both its old and its new value have.
        least = np.where(marks == KEPT, np.iinfo(MARK).max, marks)
        if info.indirection in (Indirection.vector, Indirection.tensor):
            axes = _selected_axes(info.indirection, marks.ndim)
            least = least.min(axis=axes, keepdims=True)
        if (least == least.flat[0]).all():
            access, least = distinct(access), least.flat[0]
        shadow.write(access, size, np.minimum(shadow.read(access, size), least))

    # ---------------------------------------------------------------- as far as it is known

    def touched(self, op: Operation, effect: Effect) -> Mask | None:
        if not isinstance(op, NisaOp) or not effect.partial:
            return None
        return part_of(op, effect.touched.operand, info_of(effect.value), lambda name: None)

    def data(self, op: NisaOp, name: str) -> None:
        return None

    def holds(self, op: NisaOp) -> None:
        return None

    def added(self, op: NisaOp) -> Mask | bool | None:
        return self._added.get(op)

    def entirely_unwritten(self, op: Operation, effect: Effect) -> None:
        pass  # the rule about unwritten reads reports this

    def used(self, use: Use) -> None:
        key = (use.op, use.effect.name)
        if self._certain and key not in self._seen:
            self._seen.add(key)
            self.uses.append(use)


def _everywhere(value: SSAValue, reach: Reach) -> AccessPattern:
    """Return a tile's location in its tensor's memory; if indirect, of all selectable elements."""
    owner = value.owner
    dynamic = owner.dynamic if isinstance(owner, ViewOp) else None
    access = reach.place(access_of(value), info_of(value).dtype.itemsize)
    return access if dynamic is None else selectable(access, dynamic)


def _selected_axes(indirection: Indirection, rank: int) -> tuple[int, ...]:
    """Return the dimensions of `selectable` elements along which an index selects."""
    return tuple(range(1, rank)) if indirection is Indirection.tensor else (0,)
