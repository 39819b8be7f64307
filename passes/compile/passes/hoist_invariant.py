"""`hoist-invariant`: what loops on the device do each time alike is done once, before them.

A load or a computation leaves a loop if nothing that it reads is written in the loop, and if its
result is written by nothing else there, nor read before. Loops inside come first, so that what
leaves one may leave the next. A loop that may not run at all loses only what writes tiles that
nothing outside of it uses.

Results are then on chip all the time that a loop runs. If there is no room for one, its
instruction stays, and what depends on it.
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
from nkijit.passes.compile.analyses.memory_use import Rooms
from nkijit.passes.compile.analyses.ordering import is_movable
from nkijit.passes.compile.passes.list_schedule import ROOM


def hoist_invariant(kernel: KernelOp, analyses: Analyses | None = None) -> int:
    """Move instructions out of loops; returns how many times one has left a loop.

    `analyses`: what is known of the kernel.
    """
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
    """Where in a program a tensor is touched, and where it is written; ascending."""

    def __init__(self, accesses: list[Access]):
        self.touched = [access.place for access in accesses]
        self.written = [access.place for access in accesses if access.writes]


class _Program:
    """A kernel while instructions leave its loops."""

    def __init__(self, analyses: Analyses):
        kernel = analyses.kernel
        self._analyses = analyses
        self._of = {base: _Places(touched) for base, touched in analyses.accesses.items()}
        self._kept = analyses.kept
        self._meetings = [
            place for place, op in enumerate(analyses.operations) if type(op) in WAITING
        ]
        self._rooms = Rooms(kernel, ROOM)

    def hoist(self, loop: ForOp | WhileOp) -> int:
        """Move what does not change out of one loop; returns how many instructions that is."""
        block = loop.body.block if isinstance(loop, ForOp) else loop.after_region.block
        first, last = self._analyses.ends_of(loop)
        meets = _count(self._meetings, first, last) > 0
        gone: Counter[SSAValue] = Counter()
        """How often each tensor is written by what has left the loop."""
        count = 0
        for op in list(block.ops):
            if not is_instruction(op) or not is_free(op) or not is_movable(op):
                continue
            if _counts(op, block):
                continue
            result = self._invariant(op, first, last, gone, meets=meets)
            if result is None or not (_runs(loop) or self._is_inside(result, first, last)):
                continue
            if not self._rooms.of(result).takes(result, (), loop, loop):
                continue
            _move(op, loop, block)
            gone[result] += 1
            count += 1
        return count

    def _invariant(
        self, op: NisaOp, first: int, last: int, gone: Counter[SSAValue], *, meets: bool
    ) -> SSAValue | None:
        """What an instruction of a loop writes, if it does the same each time."""
        if any(True for _ in self._kept.of(op)):
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
            if _count(self._of[base].written, first, last) > gone[base]:
                return None
        return result

    def _is_inside(self, base: SSAValue, first: int, last: int) -> bool:
        """Whether a loop alone uses a tile."""
        touched = self._of[base].touched
        return first <= touched[0] and touched[-1] <= last


def _counts(op: Operation, block: Block) -> bool:
    """Whether an operation of a loop's block takes its index, or what is made of it there."""
    for value in op.operands:
        owner = value.owner
        if isinstance(owner, Block):
            if owner is block:
                return True
        elif owner.parent is block and (type(owner) not in DECLARATIONS or _counts(owner, block)):
            return True
    return False


def _count(places: list[int], first: int, last: int) -> int:
    return bisect_right(places, last) - bisect_left(places, first)


def _runs(loop: ForOp | WhileOp) -> bool:
    """Whether a loop is known to run at least once."""
    numbers = {name: scalar_constant(value) for name, value in controls(loop).items()}
    lower, upper = numbers.get("lower"), numbers.get("upper")
    return lower is not None and upper is not None and lower < upper


def _move(op: Operation, loop: Operation, block: Block) -> None:
    """Move an operation of a loop's block in front of it, behind what declares its operands."""
    for value in op.operands:
        owner = value.owner
        if isinstance(owner, Operation) and owner.parent is block:
            _move(owner, loop, block)
    op.detach()
    outer = loop.parent
    assert outer is not None
    outer.insert_op_before(op, loop)
