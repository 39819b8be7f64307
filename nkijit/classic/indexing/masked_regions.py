"""The region of a tile in which a mask holds: a bounding box, and boxes that cover the region."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from nkijit.classic.indexing.boxes import TileBox, broadcast, put
from nkijit.classic.indexing.expressions import AffineForm, Constraint, Index, Mask, Relation
from nkijit.dialects.rule_texts.classic import MASK_EXPRESSION
from nkijit.dialects.rule_texts.operands import EMPTY_SLICE
from nkijit.tracing.tracer import tracer_for


@dataclass(frozen=True, slots=True)
class MaskedRegion:
    """The region of a tile in which a predicate holds: a bounding box and further constraints."""

    box: TileBox | None
    """The smallest box around the region; None when the predicate holds nowhere."""
    rest: tuple[Constraint, ...]
    """Constraints that do not hold everywhere in the box."""

    @staticmethod
    def of(mask: Mask, shape: tuple[int, ...]) -> MaskedRegion:
        """Return the region of a tile of `shape` in which a predicate holds."""
        box: TileBox | None = TileBox.whole(shape)
        if all(_holds_in(constraint, shape) for constraint in mask.constraints):
            return MaskedRegion(box, ())
        constraints = [_of_rank(constraint, len(shape)) for constraint in mask.constraints]
        for constraint in constraints:
            if broadcast(constraint.expression.span, shape) != shape:
                tracer_for("mask").fail(
                    MASK_EXPRESSION,
                    "mask",
                    f"a mask of shape {constraint.expression.shape} does not fit a tile of shape "
                    f"{shape}",
                )
        while True:
            before = box
            for constraint in constraints:
                box = None if box is None else _tightened(box, constraint)
            if box is None or box == before:
                break
        if box is None:
            return MaskedRegion(None, ())
        return MaskedRegion(box, tuple(c for c in constraints if c.everywhere(box) is not True))

    def is_whole(self, shape: tuple[int, ...]) -> bool:
        """Return True when the predicate holds in all of a tile of `shape`."""
        return self.box is not None and not self.rest and self.box.is_whole(shape)

    def __and__(self, other: MaskedRegion) -> MaskedRegion:
        """Return the region in which the predicates of both regions hold."""
        if self.box is None or other.box is None:
            return MaskedRegion(None, ())
        box = self.box.intersection(other.box)
        return MaskedRegion(box, (*self.rest, *other.rest) if box is not None else ())

    def boxes(self) -> Iterator[TileBox]:
        """Yield blocks that together cover the region, without overlap, in row-major order.

        The box is split index by index, one dimension after the other, and adjacent equal blocks
        are merged. A region that is a box gives one block.
        """
        if self.box is not None:
            for starts, sizes in _blocks(self.box, self.rest, 0):
                yield TileBox(starts, sizes)


def masked_region(call: str, mask: Mask, shape: tuple[int, ...]) -> MaskedRegion:
    """Return the region of a tile of `shape` in which the mask of a call holds.

    Records a finding if the mask holds nowhere, because the call then has no instructions.
    """
    region = MaskedRegion.of(mask, shape)
    if region.box is None:
        message = f"'mask' holds nowhere in {shape}, so the instruction is left out"
        tracer_for(call).record(EMPTY_SLICE, call, message)
    return region


def _holds_in(constraint: Constraint, shape: tuple[int, ...]) -> bool:
    """Return True when a constraint certainly holds in a whole tile of `shape`.

    This fast path is the common case, because a mask cuts only the last of many tiles.
    """
    expression = constraint.expression
    low = _least(expression.form, shape)
    holds = constraint.relation is Relation.not_negative
    return holds and low is not None and expression.constant + low >= 0


@lru_cache(maxsize=4096)
def _least(form: AffineForm, shape: tuple[int, ...]) -> int | None:
    """Return the lowest value of a form in a tile of a shape.

    Returns None if the form may not broadcast to this shape.
    """
    if len(form.shape) > len(shape) or broadcast(form.span, shape) != shape:
        return None
    return form.bounds(TileBox.whole(shape))[0]


def _of_rank(constraint: Constraint, rank: int) -> Constraint:
    """Return a constraint without the dimensions of size 1 that only `nl.mgrid` has added.

    These dimensions are removed only as far as a tile of `rank` dimensions lacks them.
    """
    given = constraint.expression
    pairs = list(enumerate(zip(given.shape, given.filled, strict=True)))
    idle = [dim for dim, (size, filled) in pairs if filled and size == 1]
    surplus = idle[: max(0, given.ndim - rank)]
    if not surplus:
        return constraint
    dims = [dim for dim in range(given.ndim) if dim not in surplus]
    return Constraint(given.picked(dims, given.ndim), constraint.relation)


def _tightened(box: TileBox, constraint: Constraint) -> TileBox | None:
    """Shrink a box to the part in which a constraint may hold, dimension by dimension."""
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


def _bounded(box: TileBox, expression: Index) -> TileBox | None:
    """Return the smallest part of a box that contains all elements with an expression >= 0."""
    _, highest = expression.bounds(box)
    if highest < 0:
        return None
    starts, sizes = list(box.starts), list(box.sizes)
    for dim, step in enumerate(expression.aligned(len(starts))):
        if step == 0:
            continue
        # The number of steps from the end of the dimension at which the expression is largest, if
        # it is largest in all other dimensions.
        slack = min(highest // abs(step), sizes[dim] - 1)
        if step > 0:
            starts[dim] += sizes[dim] - 1 - slack
        sizes[dim] = slack + 1
    return TileBox(tuple(starts), tuple(sizes))


_Block = tuple[tuple[int, ...], tuple[int, ...]]


def _blocks(box: TileBox, rest: tuple[Constraint, ...], dim: int) -> list[_Block]:
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
        slab = TileBox(put(box.starts, dim, index), put(box.sizes, dim, 1))
        for constraint in rest:
            tight = _tightened(slab, constraint)
            if tight is None:
                break
            slab = tight
        else:
            inner = _blocks(slab, rest, dim + 1)
            if previous and _are_adjacent(previous, inner, dim):
                inner = [(start, put(size, dim, size[dim] + 1)) for start, size in previous]
                del result[len(result) - len(previous) :]
            result += inner
            previous = inner
            continue
        previous = []
    return result


def _runs(box: TileBox, rest: tuple[Constraint, ...], dim: int) -> list[_Block]:
    """Return one block for each run of indices that fulfil all constraints.

    The constraints depend only on the dimension `dim` of the box.
    """
    result: list[_Block] = []
    for index in range(box.starts[dim], box.starts[dim] + box.sizes[dim]):
        point = TileBox(put(box.starts, dim, index), put(box.sizes, dim, 1))
        if any(c.everywhere(point) is not True for c in rest):
            continue
        if result and result[-1][0][dim] + result[-1][1][dim] == index:
            starts, sizes = result[-1]
            result[-1] = (starts, put(sizes, dim, sizes[dim] + 1))
        else:
            result.append((point.starts, point.sizes))
    return result


def _are_adjacent(previous: list[_Block], inner: list[_Block], dim: int) -> bool:
    """Return True when each block of `inner` continues a block of `previous` along `dim`."""
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
