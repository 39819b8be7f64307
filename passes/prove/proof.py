"""Proofs that two kernels are equal, at the strictest level that holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from nkijit.dialects.collection import without_collection
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.dialects.spelling import counted, numbered
from nkijit.dialects.tiles import info_of
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.plain import plain
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.prove.algebra import Algebra, Level
from nkijit.passes.prove.differences import Divergence, divergence
from nkijit.passes.prove.digests import Cells, differ
from nkijit.passes.prove.errors import NotProvableError
from nkijit.passes.prove.loops import Trips
from nkijit.passes.prove.roundings import Rounding, RoundingWatch, changed
from nkijit.passes.prove.run import Digests, argument, digests, result_names

Kernel = ModuleOp | KernelOp | Sequence[KernelOp]
"""A module with one kernel, or the kernel's program for each core."""


@dataclass(frozen=True, slots=True)
class Unproven:
    """The reason why the results of a kernel have no terms."""

    kernel: str
    """`old` or `new`; empty if the reason is about both kernels."""
    reason: str
    place: Position | None
    """The line of the operation without a term; None for a kernel as a whole."""

    def __str__(self) -> str:
        at = "" if self.place is None else f"{self.place.line_text}: "
        return f"{at}{self.reason}" + (f" ({self.kernel})" if self.kernel else "")


@dataclass(frozen=True, slots=True)
class Difference:
    """The first element of a result that has different terms in both kernels."""

    result: str
    """The name of the result in the old kernel."""
    index: tuple[int, ...]
    count: int
    """The number of elements of all results that differ."""
    rank: int = 0
    terms: Divergence | None = None
    """The terms of the element where they diverge."""

    @property
    def element(self) -> str:
        """The element as text, `y[3, 7]`."""
        return f"{self.result}[{', '.join(map(str, self.index))}]"

    def __str__(self) -> str:
        more = f", and {numbered(self.count - 1, 'more element')}" if self.count > 1 else ""
        lines = [f"{self.element} differs{more}"]
        if self.terms is not None:
            lines += [f"  {line}" for line in self.terms.lines]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of a comparison of two kernels for all inputs."""

    level: Level | None
    """The strictest level at which the kernels are equal; None if they are not proven equal."""
    tried: Level
    """The weakest level that was tried."""
    difference: Difference | None = None
    """The first difference at the weakest level that was tried; None for equal kernels."""
    unproven: Unproven | None = None
    """The reason why there are no terms to compare; None if there are."""
    roundings: tuple[Rounding, ...] = ()
    """For kernels that are equal up to rounding, the lines that round in one kernel only."""
    trips: int | None = None
    """The number of iterations that is assumed of loops that depend on inputs; None without any."""

    def holds(self, level: Level | str = Level.bits) -> bool:
        """Return whether the kernels are proven equal at a level, or at a stricter one."""
        return self.level is not None and self.level.implies(Level(level))

    def __str__(self) -> str:
        if self.level is not None:
            inputs = "all inputs"
            if self.trips is not None:
                inputs += (
                    f" with which loops of unknown trip count run {numbered(self.trips, 'time')}"
                )
            lines = [f"equal for {inputs}: {self.level.value}"]
            return "\n".join(lines + [f"  {each}" for each in self.roundings])
        if self.unproven is not None:
            return f"not proven: {self.unproven}"
        return f"not proven equal: {self.difference}"

    def to_json(self) -> str:
        """Return everything as a JSON document."""
        return json.dumps(plain(self), indent=2, ensure_ascii=False) + "\n"


@without_collection()
def prove(
    old: Kernel, new: Kernel, level: Level | str = Level.rounding, trips: int | None = None
) -> Proof:
    """Compare the results of two kernels for all inputs.

    Args:
        old: a verified kernel.
        new: a verified kernel with arguments and results of the same types.
        level: the weakest level to try, after all stricter ones.
        trips: the number of iterations of loops whose trip counts depend on inputs; the proof then
            holds for the inputs with which all such loops of the old kernel run as often.

    Returns the strictest level that holds, or the first difference at `level`, or the reason why
    there is no proof. Equal kernels are equal on every input, except for a collision of digests.
    """
    return compared(Side("old", old, trips), Side("new", new, trips), Level(level))


@dataclass(frozen=True, slots=True)
class _Run:
    """The digests of a kernel at a level."""

    digests: Digests
    trips: Trips
    roundings: RoundingWatch | None
    """The roundings of the kernel, at the level that ignores them."""


class Side:
    """One of two kernels that are compared. Its digests are computed once for each level."""

    def __init__(self, name: str, kernel: Kernel, trips: int | None = None):
        """`name` is "old" or "new"; `trips` is the argument of `prove`."""
        self.name = name
        self.kernels = kernels_in(kernel)
        self.given = trips
        self._runs: dict[Level, _Run] = {}

    def at(self, level: Level) -> _Run:
        """Return the digests at a level; raises NotProvableError or InterpretationError."""
        if level not in self._runs:
            trips = Trips(self.given)
            watch = RoundingWatch(level) if level is Level.rounding else None
            algebra = watch or Algebra(level)
            found = digests(self.kernels, algebra, self.name, watch, trips)
            self._runs[level] = _Run(found, trips, watch)
        return self._runs[level]


def compared(old: Side, new: Side, last: Level) -> Proof:
    """Compare the results of two kernels as `prove` does, at all levels up to `last`."""
    mismatch = _mismatch(old.kernels[0], new.kernels[0])
    if mismatch is not None:
        return Proof(None, last, unproven=Unproven("", mismatch, None))
    difference: Difference | None = None
    for each in Level:
        if not each.implies(last):
            break
        found: list[_Run] = []
        for side in (old, new):
            try:
                found.append(side.at(each))
            except NotProvableError as error:
                return Proof(None, last, unproven=Unproven(side.name, error.reason, error.place))
            except InterpretationError as error:
                return Proof(None, last, unproven=Unproven(side.name, str(error), None))
        before, after = found
        if len(before.digests.returned) != len(after.digests.returned):
            reason = "its collectives have another number of ranks than the old kernel"
            return Proof(None, last, unproven=Unproven("new", reason, None))
        if not after.trips.facts <= before.trips.facts:
            reason = "the trip count of a loop is another term than those in the old kernel"
            return Proof(None, last, unproven=Unproven("new", reason, None))
        difference = _difference(old.kernels[0], before.digests, after.digests)
        if difference is None:
            given = old.given if before.trips.facts else None
            roundings = ()
            if before.roundings is not None and after.roundings is not None:
                roundings = changed(before.roundings, after.roundings)
            return Proof(each, last, roundings=roundings, trips=given)
    assert difference is not None
    place = difference.result, difference.index, difference.rank
    terms = divergence((old.kernels, new.kernels), last, *place, old.given)
    return Proof(None, last, replace(difference, terms=terms))


def kernels_in(kernel: Kernel) -> Sequence[KernelOp]:
    """Return the program of each core, from a module with one kernel or from a list."""
    if isinstance(kernel, KernelOp):
        return [kernel]
    return kernels_of(kernel) if isinstance(kernel, ModuleOp) else kernel


def _mismatch(old: KernelOp, new: KernelOp) -> str | None:
    """Return the reason why arguments or results cannot be compared; None if they can."""
    for word, olds, news in (
        ("arguments", old.arguments, new.arguments),
        ("results", old.return_op.values, new.return_op.values),
    ):
        if len(olds) != len(news):
            return f"the old kernel has {counted(len(olds), word[:-1])}, the new one {len(news)}"
        for number, pair in enumerate(zip(olds, news, strict=True)):
            before, after = map(info_of, pair)
            if (before.shape, before.dtype) != (after.shape, after.dtype):
                one, two = (f"{each.dtype.name} {each.shape}" for each in (before, after))
                return f"{word[:-1]} {number} is {one} in the old kernel, {two} in the new one"
    return None


def _difference(kernel: KernelOp, old: Digests, new: Digests) -> Difference | None:
    first: tuple[str, tuple[int, ...], int] | None = None
    count = 0
    for name, rank, before, after, undefined in _pairs(kernel, old, new):
        different = differ(before, after)
        if different.any():
            different &= ~undefined()
        found = int(different.sum())
        count += found
        if found and first is None:
            index = np.unravel_index(int(different.argmax()), different.shape)
            first = name, tuple(int(i) for i in index), rank
    return None if first is None else Difference(first[0], first[1], count, first[2])


def _pairs(
    kernel: KernelOp, old: Digests, new: Digests
) -> Iterator[tuple[str, int, Cells, Cells, Callable[[], npt.NDArray[np.bool_] | np.bool_]]]:
    """Yield the name, rank and digests of each result, then of each argument that is written.

    The last item returns a mask of the elements that neither kernel writes.
    """
    names = result_names(kernel)
    unwritten = list(zip(old.undefined, new.undefined, strict=True))
    for number, (before, after) in enumerate(zip(old.returned, new.returned, strict=True)):
        rank, result = divmod(number, len(names))
        yield names[result], rank, before, after, partial(_neither, *unwritten[number])
    for rank, number in sorted(old.written.keys() | new.written.keys()):
        value = kernel.arguments[number]
        shape = info_of(value).shape
        before, after = (
            each.written.get((rank, number), argument(value, rank, number)).reshape(shape)
            for each in (old, new)
        )
        yield value.name_hint or f"argument {number}", rank, before, after, lambda: np.False_


def _neither(*masks: Callable[[], npt.NDArray[np.bool_]]) -> npt.NDArray[np.bool_]:
    one, other = (mask() for mask in masks)
    return one & other
