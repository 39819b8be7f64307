"""`hoist-invariant`: moves loop-invariant instructions before their loop.

A load or a computation leaves a loop under two conditions: the loop does not write its inputs, and
its result has no other write and no earlier read in the loop. Inner loops come first, so an
instruction can leave several loops. If a loop may run zero times, only instructions leave whose
result no operation outside the loop uses.

The results occupy memory while the loop runs. If memory is insufficient for an instruction, the
instruction and its dependents stay in the loop.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare.operation import NisaOp, is_instruction, scalar_constant
from nkijit.dialects.effects import effects
from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nki.allocation import DECLARATIONS
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.loops import controls
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.compile.analyses.accesses import Access, is_free, is_own, overwrites
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.analyses.memory_use import MemoryUses
from nkijit.passes.compile.analyses.ordering import is_movable
from nkijit.passes.compile.passes.list_schedule import MAX_USE


def hoist_invariant(kernel: KernelOp, analyses: Analyses | None = None) -> int:
    """Move instructions out of loops; an instruction that leaves two loops counts twice."""
    analyses = analyses or Analyses(kernel)
    if analyses.of_kind.keys().isdisjoint((ForOp, WhileOp)):
        return 0
    program = _Program(analyses)
    hoisted = sum(program.hoist(loop) for loop in _inner_first(kernel.body.block))
    if hoisted:
        analyses.changed()
    return hoisted


def _inner_first(block: Block) -> Iterator[ForOp | WhileOp]:
    for op in block.ops:
        if not op.regions:
            continue
        for region in op.regions:
            for inner in region.blocks:
                yield from _inner_first(inner)
        if isinstance(op, (ForOp, WhileOp)):
            yield op


class _Places:
    """The ascending program positions at which a tensor is accessed, and at which it is written."""

    def __init__(self, accesses: list[Access]):
        self.touched = [access.place for access in accesses]
        self.written = [access.place for access in accesses if access.writes]


class _Program:
    def __init__(self, analyses: Analyses):
        kernel = analyses.kernel
        self._analyses = analyses
        self._of = {base: _Places(touched) for base, touched in analyses.accesses.items()}
        self._engine_state = analyses.engine_state
        self._meetings = [
            place for place, op in enumerate(analyses.operations) if type(op) in WAITING
        ]
        self._memory = MemoryUses(kernel, MAX_USE)

    def hoist(self, loop: ForOp | WhileOp) -> int:
        """Move the invariant instructions out of one loop; returns their number."""
        block = loop.body.block if isinstance(loop, ForOp) else loop.after_region.block
        first, last = self._analyses.ends_of(loop)
        meets = _count(self._meetings, first, last) > 0
        hoisted_writes: Counter[SSAValue] = Counter()
        """For each tensor, the number of its writes that have left the loop."""
        count = 0
        for op in list(block.ops):
            if not is_instruction(op) or not is_free(op) or not is_movable(op):
                continue
            if _depends_on_loop(op, block):
                continue
            result = self._invariant(op, first, last, hoisted_writes, meets=meets)
            if result is None or not (_runs(loop) or self._is_inside(result, first, last)):
                continue
            if not self._memory.of(result).extend(result, (), loop, loop):
                continue
            _move(op, loop, block)
            hoisted_writes[result] += 1
            count += 1
        return count

    def _invariant(
        self, op: NisaOp, first: int, last: int, hoisted_writes: Counter[SSAValue], *, meets: bool
    ) -> SSAValue | None:
        """Return the tensor that a loop's instruction writes; None if it must stay in the loop."""
        if any(True for _ in self._engine_state.of(op)):
            return None
        done = effects(op)
        results = [effect for effect in done if overwrites(effect)]
        if len(results) != 1:
            return None
        result = base_of(results[0].value)
        if not is_own(result):
            return None
        places = self._of[result]
        here = self._analyses.places[id(op)]
        if _count(places.written, first, last) > 1:
            return None
        if places.touched[bisect_left(places.touched, first)] != here:
            return None
        for effect in done:
            if effect is results[0]:
                continue
            base = base_of(effect.value)
            if base is result or (not is_own(base) and (info_of(base).region.on_chip or meets)):
                return None
            if _count(self._of[base].written, first, last) > hoisted_writes[base]:
                return None
        return result

    def _is_inside(self, base: SSAValue, first: int, last: int) -> bool:
        """Whether all accesses to a tile are in the loop."""
        touched = self._of[base].touched
        return first <= touched[0] and touched[-1] <= last


def _depends_on_loop(op: Operation, block: Block) -> bool:
    """Whether an operation of a loop's block depends on the loop's index or carried values."""
    for value in op.operands:
        owner = value.owner
        if isinstance(owner, Block):
            if owner is block:
                return True
        elif owner.parent is block and (
            type(owner) not in DECLARATIONS or _depends_on_loop(owner, block)
        ):
            return True
    return False


def _count(places: list[int], first: int, last: int) -> int:
    return bisect_right(places, last) - bisect_left(places, first)


def _runs(loop: ForOp | WhileOp) -> bool:
    """Whether the loop certainly runs at least once."""
    numbers = {name: scalar_constant(value) for name, value in controls(loop).items()}
    lower, upper = numbers.get("lower"), numbers.get("upper")
    return lower is not None and upper is not None and lower < upper


def _move(op: Operation, loop: Operation, block: Block) -> None:
    """Move an operation to before its loop, with the declarations of its operands."""
    for value in op.operands:
        owner = value.owner
        if isinstance(owner, Operation) and owner.parent is block:
            _move(owner, loop, block)
    op.detach()
    outer = loop.parent
    assert outer is not None
    outer.insert_op_before(op, loop)
