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
    """`old` or `new`."""
    reason: str
    place: Position | None
    """The line of the operation without a term; None for a kernel as a whole."""

    def __str__(self) -> str:
        at = "" if self.place is None else f"{self.place.line_text}: "
        return f"{at}{self.reason} ({self.kernel})"


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
        more = f", and {self.count - 1} more elements" if self.count > 1 else ""
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
                inputs += f" with which loops of unknown trip count run {self.trips} times"
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
    last = Level(level)
    olds, news = kernels_in(old), kernels_in(new)
    mismatch = _mismatch(olds[0], news[0])
    if mismatch is not None:
        return Proof(None, last, unproven=Unproven("new", mismatch, None))
    difference: Difference | None = None
    watches: list[RoundingWatch] = []
    for each in Level:
        if not each.implies(last):
            break
        found: list[Digests] = []
        assumed: list[Trips] = []
        for name, kernels in (("old", olds), ("new", news)):
            assumed.append(Trips(trips))
            try:
                if each is Level.rounding:
                    watch = RoundingWatch(each)
                    watches.append(watch)
                    found.append(digests(kernels, watch, name, watch, assumed[-1]))
                else:
                    found.append(digests(kernels, Algebra(each), name, trips=assumed[-1]))
            except NotProvableError as error:
                return Proof(None, last, unproven=Unproven(name, error.reason, error.place))
            except InterpretationError as error:
                return Proof(None, last, unproven=Unproven(name, str(error), None))
        if len(found[0].returned) != len(found[1].returned):
            reason = "its collectives have another number of ranks than the old kernel"
            return Proof(None, last, unproven=Unproven("new", reason, None))
        if not assumed[1].facts <= assumed[0].facts:
            reason = "the trip count of a loop is another term than those in the old kernel"
            return Proof(None, last, unproven=Unproven("new", reason, None))
        given = trips if assumed[0].facts else None
        difference = _difference(olds[0], *found)
        if difference is None:
            roundings = changed(*watches) if watches else ()
            return Proof(each, last, roundings=roundings, trips=given)
    assert difference is not None
    terms = divergence(
        (olds, news), last, difference.result, difference.index, difference.rank, trips
    )
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
            return f"it has {len(news)} {word}, the old kernel has {len(olds)}"
        for number, pair in enumerate(zip(olds, news, strict=True)):
            before, after = map(info_of, pair)
            if (before.shape, before.dtype) != (after.shape, after.dtype):
                return (
                    f"{word[:-1]} {number} is {after.dtype.name} {after.shape}, in the old kernel "
                    f"{before.dtype.name} {before.shape}"
                )
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
