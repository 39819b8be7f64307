"""Masks: conjunctions of comparisons of index expressions, and the blocks that they leave.

`i < 64` is a `Mask`. It holds no array: what becomes of it are smaller access patterns, or the
predicate of `nisa.affine_select`.

Source: NKI API reference 2.21 to 2.26, nki.api.shared, "NKI API Masking".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from nkijit.classic.boxes import Box, broadcast, put
from nkijit.classic.index import Index, Relation, no_truth_value
from nkijit.dialects.rule_texts.classic import INDEX_ASSIGNMENT, MASK_EXPRESSION
from nkijit.tracer import tracer_for


def _fail(rule: Any, what: str, help: str = "") -> NoReturn:
    tracer_for("mask").fail(rule, "mask", what, help)


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """One comparison of an affine expression with 0."""

    expression: Index
    relation: Relation

    def negated(self) -> Constraint:
        """The constraint that holds where this one does not."""
        if self.relation is Relation.not_negative:
            return Constraint(-self.expression - 1, self.relation)
        other = Relation.zero if self.relation is Relation.not_zero else Relation.not_zero
        return Constraint(self.expression, other)

    def everywhere(self, box: Box) -> bool | None:
        """True or False when it holds everywhere or nowhere in a box, else None."""
        low, high = self.expression.bounds(box)
        if self.relation is Relation.not_negative:
            return True if low >= 0 else False if high < 0 else None
        apart = low > 0 or high < 0
        if self.relation is Relation.not_zero:
            return True if apart else False if low == high == 0 else None
        return False if apart else True if low == high == 0 else None


class Mask:
    """A predicate: a conjunction of constraints on index expressions."""

    __slots__ = ("constraints",)
    __array_ufunc__ = None

    def __init__(self, constraints: tuple[Constraint, ...]):
        """All of `constraints` hold where the predicate does."""
        self.constraints = constraints

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tile that the predicate spans."""
        shape = broadcast((1,), *(c.expression.shape for c in self.constraints))
        if shape is None:
            _fail(MASK_EXPRESSION, "the parts of the mask do not broadcast to one shape")
        return shape

    def region(self, shape: tuple[int, ...]) -> Region:
        """Where in a tile of `shape` the predicate holds."""
        box: Box | None = Box.whole(shape)
        if not self.constraints:
            return Region(box, ())
        for constraint in self.constraints:
            if broadcast(constraint.expression.shape, shape) != shape:
                _fail(
                    MASK_EXPRESSION,
                    f"a mask of shape {constraint.expression.shape} does not fit a tile of shape "
                    f"{shape}",
                )
        while True:
            before = box
            for constraint in self.constraints:
                box = None if box is None else _tightened(box, constraint)
            if box is None or box == before:
                break
        if box is None:
            return Region(None, ())
        return Region(box, tuple(c for c in self.constraints if c.everywhere(box) is not True))

    def part(self, box: Box) -> Mask:
        """The predicate in a box of the tile, for a tile of the box's size."""
        return Mask(tuple(Constraint(c.expression.part(box), c.relation) for c in self.constraints))

    def __and__(self, other: Any) -> Any:
        if isinstance(other, Mask):
            return Mask(self.constraints + other.constraints)
        truth = as_truth(other)
        if truth is None:
            return NotImplemented
        return self if truth else NOWHERE

    __rand__ = __and__

    def __invert__(self) -> Mask:
        if len(self.constraints) != 1:
            _fail(
                MASK_EXPRESSION,
                "~ of several comparisons is no conjunction",
                "negate a single comparison, or write two instructions",
            )
        return Mask((self.constraints[0].negated(),))

    def __or__(self, other: Any) -> Any:
        truth = as_truth(other)
        if truth is not None:
            return EVERYWHERE if truth else self
        _fail(
            MASK_EXPRESSION,
            "a mask is a conjunction, it cannot be joined with |",
            "write one instruction for each part",
        )

    __ror__ = __or__

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        _fail(INDEX_ASSIGNMENT, "a mask does not support item assignment")

    def __bool__(self) -> NoReturn:
        no_truth_value()

    def __repr__(self) -> str:
        signs = {Relation.not_negative: ">=", Relation.zero: "==", Relation.not_zero: "!="}
        parts = [f"({c.expression!r} {signs[c.relation]} 0)" for c in self.constraints]
        return " & ".join(parts) or "everywhere"


EVERYWHERE = Mask(())
NOWHERE = Mask((Constraint(Index((), (), -1), Relation.not_negative),))


def as_truth(value: Any) -> bool | None:
    """A Python or NumPy truth value, of a comparison of plain numbers; None for anything else."""
    if isinstance(value, bool):
        return value
    if getattr(value, "shape", None) == () and getattr(value, "dtype", None) == np.bool_:
        return bool(value)
    return None


def as_mask(call: str, mask: Any) -> Mask:
    """The `mask=` argument of a call; None means everywhere."""
    if mask is None:
        return EVERYWHERE
    if isinstance(mask, Mask):
        return mask
    truth = as_truth(mask)
    if truth is not None:
        return EVERYWHERE if truth else NOWHERE
    tracer_for(call).fail(
        MASK_EXPRESSION,
        call,
        f"'mask': expected a comparison of affine index expressions, got {mask!r}",
    )


@dataclass(frozen=True, slots=True)
class Region:
    """Where in a tile a predicate holds: the smallest box around it, and what else must hold."""

    box: Box | None
    """None when it holds nowhere."""
    rest: tuple[Constraint, ...]
    """Constraints that do not hold everywhere in the box."""

    def __and__(self, other: Region) -> Region:
        """Where both predicates hold."""
        if self.box is None or other.box is None:
            return Region(None, ())
        box = self.box.intersection(other.box)
        return Region(box, (*self.rest, *other.rest) if box is not None else ())

    def boxes(self) -> Iterator[Box]:
        """Blocks that make up the region, without overlap, in row-major order.

        One dimension after the other is taken index by index, and neighbours that are alike are
        put together; a region that is a box is one block.
        """
        if self.box is not None:
            for starts, sizes in _blocks(self.box, self.rest, 0):
                yield Box(starts, sizes)


def _tightened(box: Box, constraint: Constraint) -> Box | None:
    """The smallest box, dimension by dimension, in which a constraint may hold."""
    if constraint.relation is Relation.not_zero:
        return None if constraint.everywhere(box) is False else box
    expressions = [constraint.expression]
    if constraint.relation is Relation.zero:
        expressions.append(-constraint.expression)
    for expression in expressions:
        tight = _bounded(box, expression)
        if tight is None:
            return None
        box = tight
    return box


def _bounded(box: Box, expression: Index) -> Box | None:
    """The part of a box in which an expression may be 0 or more."""
    _, highest = expression.bounds(box)
    if highest < 0:
        return None
    starts, sizes = list(box.starts), list(box.sizes)
    for dim, step in enumerate(expression.aligned(len(starts))):
        if step == 0:
            continue
        # How many steps the dimension may be away from its best end with all others at theirs.
        room = min(highest // abs(step), sizes[dim] - 1)
        if step > 0:
            starts[dim] += sizes[dim] - 1 - room
        sizes[dim] = room + 1
    return Box(tuple(starts), tuple(sizes))


_Block = tuple[tuple[int, ...], tuple[int, ...]]


def _blocks(box: Box, rest: tuple[Constraint, ...], dim: int) -> list[_Block]:
    rest = tuple(c for c in rest if c.everywhere(box) is not True)
    if any(c.everywhere(box) is False for c in rest):
        return []
    if not rest:
        return [(box.starts, box.sizes)]
    rank = len(box.starts)
    if all(not any(c.expression.aligned(rank)[dim + 1 :]) for c in rest):
        return _runs(box, rest, dim)
    result: list[_Block] = []
    previous: list[_Block] = []
    for index in range(box.starts[dim], box.starts[dim] + box.sizes[dim]):
        slab = Box(put(box.starts, dim, index), put(box.sizes, dim, 1))
        for constraint in rest:
            tight = _tightened(slab, constraint)
            if tight is None:
                break
            slab = tight
        else:
            inner = _blocks(slab, rest, dim + 1)
            if previous and _alike(previous, inner, dim):
                inner = [(start, put(size, dim, size[dim] + 1)) for start, size in previous]
                del result[len(result) - len(previous) :]
            result += inner
            previous = inner
            continue
        previous = []
    return result


def _runs(box: Box, rest: tuple[Constraint, ...], dim: int) -> list[_Block]:
    """Runs of indices of the one dimension that the constraints depend on."""
    result: list[_Block] = []
    for index in range(box.starts[dim], box.starts[dim] + box.sizes[dim]):
        point = Box(put(box.starts, dim, index), put(box.sizes, dim, 1))
        if any(c.everywhere(point) is not True for c in rest):
            continue
        if result and result[-1][0][dim] + result[-1][1][dim] == index:
            starts, sizes = result[-1]
            result[-1] = (starts, put(sizes, dim, sizes[dim] + 1))
        else:
            result.append((point.starts, point.sizes))
    return result


def _alike(previous: list[_Block], inner: list[_Block], dim: int) -> bool:
    """True when two lists of blocks differ only in where they are in one dimension."""
    if len(previous) != len(inner):
        return False
    for (starts, sizes), (new_starts, new_sizes) in zip(previous, inner, strict=True):
        if starts[dim] + sizes[dim] != new_starts[dim]:
            return False
        if put(starts, dim, 0) != put(new_starts, dim, 0):
            return False
        if put(sizes, dim, 0) != put(new_sizes, dim, 0):
            return False
    return True
