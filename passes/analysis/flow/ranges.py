"""Static ranges of registers and induction variables, and trip counts of loops.

A register is storage, so its value depends on the program point. `Ranges` walks the program once,
at the first query for a register, and records the effect of each write and each loop.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from nkijit.dialects.declare.operation import scalar_constant
from nkijit.dialects.effects import registers_written
from nkijit.dialects.nisa.registers import RegisterMoveOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.loops import bounds_of
from nkijit.dialects.nki.registers import ReadRegisterOp
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.walks import directly_in, operations


@dataclass(frozen=True, slots=True)
class Range:
    """The known range of an integer: `low` to `high`, both inclusive."""

    low: int
    high: int
    exact: bool
    """True if both bounds are reached in some iteration, at an operation that always runs.

    See `Ranges.always_runs`.
    """


@dataclass(slots=True)
class _History:
    """The range of a register after each operation that changes it; None where unknown."""

    places: list[int] = field(default_factory=list[int])
    held: list[Range | None] = field(default_factory=list["Range | None"])

    def before(self, place: int) -> Range | None:
        known = bisect_left(self.places, place)
        return self.held[known - 1] if known else None

    def record(self, place: int, held: Range | None) -> None:
        self.places.append(place)
        self.held.append(held)


def constant_range(loop: ForOp) -> range | None:
    """Return the values of the induction variable if all bounds are constants; None otherwise."""
    bounds = [scalar_constant(bound) for bound in bounds_of(loop)]
    lower, upper, step = [bound if isinstance(bound, int) else None for bound in bounds]
    if lower is None or upper is None or step is None or step < 1:
        return None
    return range(lower, upper, step)


def surely_runs(loop: ForOp | WhileOp) -> bool:
    """Whether a loop certainly runs at least once."""
    return isinstance(loop, ForOp) and bool(constant_range(loop))


class Ranges:
    """The values of a kernel's integers as ranges, as far as they are known before it runs.

    At the head of a loop, a register has the union of its range before the loop and of all values
    that the loop writes to it. So no body is walked twice.
    """

    def __init__(self, kernel: KernelOp):
        self._kernel = kernel
        self._bounds_of: dict[ForOp, tuple[Range, Range, Range] | None] = {}
        self._inductions: dict[ForOp, Range | None] = {}
        self._always: dict[Block, bool] = {}

    def range_of(self, value: SSAValue, at: Operation) -> Range | None:
        """Return the range of a number, an induction variable or a register before `at`.

        None if it is unknown, and for the induction variable of a loop that never runs.
        """
        # Exact classes: `isinstance` on xDSL's classes is slow when the answer is no.
        if type(value) is BlockArgument:
            loop = value.block.parent_op()
            return self._induction(loop) if type(loop) is ForOp else None
        owner = value.owner
        if type(owner) is ReadRegisterOp:
            return self.range_of(owner.source, owner)
        if type(value.type) is RegisterType:
            history = self._histories.get(value)
            return None if history is None else history.before(self._places[at])
        number = scalar_constant(value)
        return Range(number, number, True) if isinstance(number, int) else None

    def trip_counts(self, loop: ForOp) -> tuple[int, int | None]:
        """Return the smallest and the largest trip count; the largest is None if unbounded."""
        bounds = self._bounds(loop)
        if bounds is None:
            return 0, None
        lower, upper, step = bounds
        least = len(range(lower.high, upper.low, step.high))
        return least, len(range(lower.low, upper.high, step.low))

    def always_runs(self, op: Operation) -> bool:
        """Whether every run of the kernel executes the operation."""
        block = op.parent_block()
        if block is None:
            return True
        always = self._always.get(block)
        if always is None:
            loop = block.parent_op()
            always = loop is None or self.always_runs(loop)
            if isinstance(loop, ForOp):
                always = always and self.trip_counts(loop)[0] > 0
            elif isinstance(loop, WhileOp):
                always = always and block is loop.before_region.block
            self._always[block] = always
        return always

    def _bounds(self, loop: ForOp) -> tuple[Range, Range, Range] | None:
        if loop not in self._bounds_of:
            self._bounds_of[loop] = self._known_bounds(loop)
        return self._bounds_of[loop]

    def _known_bounds(self, loop: ForOp) -> tuple[Range, Range, Range] | None:
        lower, upper, step = (self.range_of(bound, loop) for bound in bounds_of(loop))
        if lower is None or upper is None or step is None or step.low < 1:
            return None
        return lower, upper, step

    def _induction(self, loop: ForOp) -> Range | None:
        if loop not in self._inductions:
            self._inductions[loop] = self._known_induction(loop)
        return self._inductions[loop]

    def _known_induction(self, loop: ForOp) -> Range | None:
        bounds = self._bounds(loop)
        if bounds is None:
            return None
        lower, upper, step = bounds
        if all(bound.low == bound.high for bound in bounds):
            numbers = range(lower.low, upper.low, step.low)
            return Range(numbers[0], numbers[-1], True) if numbers else None
        return Range(lower.low, upper.high - 1, False) if lower.low < upper.high else None

    # ---------------------------------------------------------------- registers

    @cached_property
    def _places(self) -> dict[Operation, int]:
        return {op: place for place, op in enumerate(self._kernel.operations)}

    @cached_property
    def _histories(self) -> dict[SSAValue, _History]:
        # Set first, as `_follow` itself queries it: entries before the current place are complete.
        self._histories = {}
        self._follow(self._kernel.body.block)
        return self._histories

    def _follow(self, block: Block) -> None:
        for op in directly_in(block):
            if isinstance(op, (ForOp, WhileOp)):
                self._follow_loop(op)
            else:
                for region in op.regions:
                    self._follow(region.block)
                for register in registers_written(op):
                    self._record(register, self._places[op], self._value_written(op))

    def _follow_loop(self, loop: ForOp | WhileOp) -> None:
        head, end = self._places[loop], self._places[_last_of(loop)]
        writes = [(op, r) for op in _inner(loop) for r in registers_written(op)]
        written = {register for _, register in writes}
        sources = {op.src for op, _ in writes if isinstance(op, RegisterMoveOp)}
        # Other sources depend on later writes of the loop, whose values are not known yet.
        stable = {source for source in sources if self._is_stable(source, written)}
        entry = {register: self.range_of(register, loop) for register in written}
        inside = dict(entry)
        for op, register in writes:
            known = isinstance(op, RegisterMoveOp) and op.src in stable
            value = self._value_written(op) if known else None
            inside[register] = _either(inside[register], value)
        for register, held in inside.items():
            self._record(register, head, held)
        for region in loop.regions:
            self._follow(region.block)
        runs = isinstance(loop, ForOp) and self.trip_counts(loop)[0] > 0
        for register in written:
            # A `while` loop exits from its condition, after any number of iterations.
            held = self._histories[register].before(end)
            if isinstance(loop, WhileOp):
                held = inside[register]
            elif not runs:
                held = _either(entry[register], held)
            if held is not None and held.low != held.high:
                held = replace(held, exact=False)
            self._record(register, end, held)

    def _record(self, register: SSAValue, place: int, held: Range | None) -> None:
        self._histories.setdefault(register, _History()).record(place, held)

    def _value_written(self, op: Operation) -> Range | None:
        return self.range_of(op.src, op) if isinstance(op, RegisterMoveOp) else None

    def _is_stable(self, value: SSAValue, written: Collection[SSAValue]) -> bool:
        """Whether a value does not depend on the registers in `written`."""
        if isinstance(value, BlockArgument):
            loop = value.block.parent_op()
            bounds = bounds_of(loop) if isinstance(loop, ForOp) else ()
            return all(self._is_stable(bound, written) for bound in bounds)
        if isinstance(value.owner, ReadRegisterOp):
            return value.owner.source not in written
        return value not in written


def _either(one: Range | None, other: Range | None) -> Range | None:
    if one is None or other is None or one == other:
        return one if one == other else None
    return Range(min(one.low, other.low), max(one.high, other.high), False)


def _inner(loop: Operation) -> Iterator[Operation]:
    for region in loop.regions:
        yield from operations(region.block)


def _last_of(loop: Operation) -> Operation:
    last = loop.regions[-1].block.last_op
    return loop if last is None else last
