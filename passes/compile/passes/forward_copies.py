"""`forward-copies`: lets readers of a copy read its source.

A `tensor_copy` that changes no bits is removed if its source does not change while the copy is
read, and if every reader can take the source as its operand. Each changed reader is checked: it
must keep all rules, and run on the same engine, as another engine may compute differently.

The source is then in use for longer, and read instead of the copy. Reading PSUM takes longer than
reading SBUF, so the change must pay off: the total busy time of all engines must not increase, and
an engine that gets busier must not exceed the previously busiest engine. Memory must allow the
change as well. A copy from PSUM to SBUF with several readers stays: PSUM has few banks, which other
results need.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.declare.queries import engine_of
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nisa.movement import TensorCopyOp
from nkijit.dialects.nisa.universal_rules import all_rules_of
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import ViewOp, base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.flow.accumulators import lanes_of
from nkijit.passes.compile.analyses.accesses import (
    Access,
    Accesses,
    between,
    elements_of,
    is_free,
    is_own,
    overwrites,
)
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.analyses.costs import Costs, InstructionCost
from nkijit.passes.compile.analyses.memory_use import MemoryUses
from nkijit.passes.compile.analyses.ordering import Kept
from nkijit.passes.compile.passes.list_schedule import MAX_USE
from nkijit.passes.compile.passes.rename_tiles import Origins
from nkijit.passes.lower.program import Queue


def forward_copies(
    kernel: KernelOp, origins: Origins | None = None, analyses: Analyses | None = None
) -> int:
    """Let readers of copies read the sources; returns the number of removed copies.

    `kernel` is changed in place, and `origins` gets the new operations.
    """
    analyses = analyses or Analyses(kernel)
    found = cast(list[TensorCopyOp], analyses.of_kind.get(TensorCopyOp, ()))
    copies = [op for op in found if is_free(op)]
    if not copies:
        return 0
    origins = {} if origins is None else origins
    accesses, costs, forwarded = analyses.accesses, analyses.costs_by_form, 0
    busy = _Busy(analyses.costs.values())
    memory = MemoryUses(kernel, MAX_USE)
    for op in copies:
        copy = _copy_of(op, accesses, analyses.engine_state)
        if copy is None:
            continue
        change = _Change(copy, kernel.target, costs, origins)
        source, copied = base_of(copy.src), base_of(copy.dst)
        if change.is_legal() and busy.allows(change.more):
            same_memory = info_of(copied).region is info_of(source).region
            replaced = [copied] if same_memory else []
            if memory.of(source).extend(source, replaced, op, copy.readers[-1]):
                busy.change(change.more)
                Rewriter.erase_op(op)
                forwarded += 1
                continue
        change.take_back()
    if forwarded:
        analyses.changed()
    return forwarded


class _Busy:
    """The busy time of each queue, in ns, before and during the pass."""

    def __init__(self, costs: Iterable[InstructionCost]):
        self._of: defaultdict[Queue, float] = defaultdict(float)
        for cost in costs:
            self._of[cost.queue] += cost.issue
        self._most = max(self._of.values(), default=0.0)

    def allows(self, more: Mapping[Queue, float]) -> bool:
        """Whether a change increases neither the total nor the largest busy time of queues."""
        if sum(more.values()) > 0:
            return False
        return all(
            each <= 0 or self._of[queue] + each <= self._most for queue, each in more.items()
        )

    def change(self, more: Mapping[Queue, float]) -> None:
        """Record a change of the busy times, in ns per queue."""
        for queue, each in more.items():
            self._of[queue] += each


@dataclass(slots=True)
class _Copy:
    op: NisaOp
    dst: SSAValue
    src: SSAValue
    readers: list[NisaOp]

    def source_of(self, value: SSAValue) -> SSAValue | ViewOp | None:
        """Return the elements of the source that correspond to a tile of the copy.

        This is a value or a new view; None if there is no such view.
        """
        mine, theirs = info_of(self.dst), info_of(self.src)
        if elements_of(value) is None:
            return None
        if info_of(value) == mine and mine.shape == theirs.shape:
            return self.src
        dst, src = info_of(base_of(self.dst)), info_of(base_of(self.src))
        whole = mine.pattern == dst.pattern and theirs.pattern == src.pattern
        if not whole or dst.pattern != src.pattern or dst.dtype is not src.dtype:
            return None
        view = info_of(value)
        return ViewOp.of(base_of(self.src), view.pattern, view.dtype)


def _copy_of(op: NisaOp, accesses: Accesses, engine_state: Kept) -> _Copy | None:
    """Return a copy whose source does not change while the copy is read; None otherwise."""
    dst, src = op.required("dst"), op.required("src")
    copied, source = base_of(dst), base_of(src)
    if info_of(dst).dtype is not info_of(src).dtype or copied is source:
        return None
    if not is_own(copied) or not is_own(source) or elements_of(src) is None:
        return None
    if info_of(dst).pattern.repeats:
        return None  # several elements go to one place, which holds only the last
    first, *used = accesses[copied]
    if first.op is not op or not used or not overwrites(first.effects[0]):
        return None
    readers: list[NisaOp] = []
    # Engine state that a reader leaves belongs to the lanes of the tiles that it reads.
    moves = lanes_of(dst) != lanes_of(src)
    for access in used:
        if access.writes or access.op.parent is not op.parent or not is_free(access.op):
            return None
        if any(effect.touched.is_index for effect in access.effects):
            return None
        assert is_instruction(access.op)
        if moves and any(True for _ in engine_state.of(access.op)):
            return None
        readers.append(access.op)
    regions = info_of(source).region, info_of(copied).region
    if regions == (MemoryRegion.psum, MemoryRegion.sbuf) and len(readers) > 1:
        return None
    if _changes(accesses[source], first.place, used[-1].place):
        return None
    return _Copy(op, dst, src, readers)


def _changes(touched: list[Access], first: int, last: int) -> bool:
    """Whether a tensor is written after program position `first`, up to and including `last`."""
    return any(one.writes for one in between(touched, first, last))


@dataclass(slots=True)
class _Change:
    """A change of a copy's readers that can be undone."""

    copy: _Copy
    target: Target
    costs: Costs
    origins: Origins
    _before: list[tuple[NisaOp, int, SSAValue]] = field(
        default_factory=list[tuple[NisaOp, int, SSAValue]]
    )
    """The replaced operands: (reader, operand number, old value)."""
    _views: list[ViewOp] = field(default_factory=list[ViewOp])
    more: dict[Queue, float] = field(default_factory=dict[Queue, float])
    """The additional busy time of each queue, in ns; negative if the change saves time."""

    def is_legal(self) -> bool:
        """Change the readers; returns False at the first reader that must not be changed."""
        cost = self.costs.of(self.copy.op)
        self.more[cost.queue] = -cost.issue
        return all(self._is_changed(op) for op in self.copy.readers)

    def _is_changed(self, op: NisaOp) -> bool:
        runs_on, cost = engine_of(op, self.target), self.costs.of(op)
        for number, value in enumerate(op.operands):
            if base_of(value) is not base_of(self.copy.dst):
                continue
            source = self.copy.source_of(value)
            if source is None:
                return False
            if isinstance(source, ViewOp):
                old = value.owner
                assert isinstance(old, Operation)
                source.location = op.location
                source.result.name_hint = value.name_hint
                self.origins[source] = self.origins.get(old, old)
                Rewriter.insert_op(source, InsertPoint.before(op))
                self._views.append(source)
                source = source.result
            self._before.append((op, number, value))
            op.operands[number] = source
        if engine_of(op, self.target) is not runs_on or any(_broken(op, self.target)):
            return False
        longer = self.costs.of(op).issue - cost.issue
        self.more[cost.queue] = self.more.get(cost.queue, 0.0) + longer
        return True

    def take_back(self) -> None:
        """Undo the change: restore the readers' operands and remove the new views."""
        for op, number, value in self._before:
            op.operands[number] = value
        for view in self._views:
            del self.origins[view]
            Rewriter.erase_op(view)


def _broken(op: NisaOp, target: Target) -> Iterator[bool]:
    """Yield, for each rule of an instruction and its views, True if the rule is broken."""
    views = [value.owner for value in op.operands if isinstance(value.owner, ViewOp)]
    for one in (op, *views):
        for rule in all_rules_of(type(one)):
            yield rule.check(one, target) is not None
