"""Index expressions and masks: affine in the dimensions of the tile that they span.

`nl.arange(128)[:, None] * 2 + 1` is an `Index`: a constant and one coefficient per dimension of
the tile that it is used for; loop variables and program ids are plain numbers while a kernel is
traced, so they are part of the constant. `i < 64` is a `Mask`, a conjunction of constraints on
such expressions. Neither holds an array: what becomes of an index is an access pattern, what
becomes of a mask are smaller access patterns or the predicate of `nisa.affine_select`.

Sources: NKI API reference 2.21 to 2.26, nki.language.arange, nki.language.mgrid and "NKI API
Masking"; NKI programming model, "Tensor Indexing".
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from math import prod
from typing import Any, NoReturn, cast

import numpy as np

from nkijit.dialects.rule_texts.classic import (
    AFFINE_INDEX,
    INDEX_ASSIGNMENT,
    INDEX_CONTROL_FLOW,
    MASK_EXPRESSION,
)
from nkijit.tracer import tracer_for


def _fail(rule: Any, what: str, help: str = "") -> NoReturn:
    tracer_for("nl.arange").fail(rule, "index expression", what, help)


def _as_integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


@lru_cache(maxsize=4096)
def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that shapes have together by NumPy's rules; None when they have none."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    together = tuple(max(sizes) for sizes in zip(*padded, strict=True))
    fits = all(n in (1, m) for shape in padded for n, m in zip(shape, together, strict=True))
    return together if fits else None


class Index:
    """An affine index expression (`nl.arange`, one of `nl.mgrid`).

    Its value at position (i0, i1, …) of a tile of `shape` is
    `constant + Σ coefficients[d] * i_d`.
    """

    __slots__ = ("coefficients", "constant", "shape")
    __array_ufunc__ = None  # a NumPy integer in front of an operator leaves it to this class

    def __init__(self, shape: Sequence[int], coefficients: Sequence[int], constant: int):
        """`coefficients` of dimensions of size 1 do not matter and are kept as 0."""
        self.shape = tuple(shape)
        self.coefficients = tuple(
            c if size > 1 else 0 for c, size in zip(coefficients, self.shape, strict=True)
        )
        self.constant = constant

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def aligned(self, rank: int) -> tuple[int, ...]:
        """Coefficients for a tile of `rank` dimensions; new dimensions come first, as in NumPy."""
        return (0,) * (rank - self.ndim) + self.coefficients

    def bounds(self, box: Box) -> tuple[int, int]:
        """The lowest and the highest value in a box of the tile, both inclusive."""
        low = high = self.constant
        coefficients = self.aligned(len(box.starts))
        for c, start, size in zip(coefficients, box.starts, box.sizes, strict=True):
            ends = (c * start, c * (start + size - 1))
            low += min(ends)
            high += max(ends)
        return low, high

    def part(self, box: Box) -> Index:
        """The expression in a box of the tile, as an expression of a tile of the box's size."""
        coefficients = self.aligned(len(box.starts))
        shift = sum(c * start for c, start in zip(coefficients, box.starts, strict=True))
        return Index(box.sizes, coefficients, self.constant + shift)

    # ---------------------------------------------------------------- dimensions

    def __getitem__(self, key: Any) -> Index:
        """New dimensions (`None`), slices, integers and `...`, as in NumPy."""
        keys = list(cast("tuple[Any, ...]", key if isinstance(key, tuple) else (key,)))
        taken = sum(item is not None and item is not Ellipsis for item in keys)
        if Ellipsis not in keys:
            keys.append(Ellipsis)
        at = keys.index(Ellipsis)
        keys[at : at + 1] = [slice(None)] * (self.ndim - taken)
        shape: list[int] = []
        coefficients: list[int] = []
        constant, dim = self.constant, 0
        for item in keys:
            if item is None:
                shape.append(1)
                coefficients.append(0)
                continue
            if dim >= self.ndim:
                _fail(AFFINE_INDEX, f"too many indices for an expression of shape {self.shape}")
            size, step = self.shape[dim], self.coefficients[dim]
            dim += 1
            number = _as_integer(item)
            if isinstance(item, slice):
                chosen = range(size)[item]
                constant += step * chosen.start
                shape.append(len(chosen))
                coefficients.append(step * chosen.step)
            elif number is not None and -size <= number < size:
                constant += step * (number % size)
            else:
                _fail(AFFINE_INDEX, f"index {item!r} of an expression of shape {self.shape}")
        if 0 in shape:
            _fail(AFFINE_INDEX, f"[{key!r}] of an expression of shape {self.shape} is empty")
        return Index(shape, coefficients, constant)

    def expand_dims(self, axis: int) -> Index:
        """A new dimension of size 1 at `axis`."""
        at = axis if axis >= 0 else axis + self.ndim + 1
        return self[(slice(None),) * at + (None,)]

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        _fail(
            INDEX_ASSIGNMENT,
            "an index expression does not support item assignment",
            "make a tile of it with nisa.iota first",
        )

    # ---------------------------------------------------------------- arithmetic

    def _combine(self, other: Any, sign: int) -> Any:
        number = _as_integer(other)
        if number is not None:
            return Index(self.shape, self.coefficients, self.constant + sign * number)
        if not isinstance(other, Index):
            return NotImplemented
        shape = broadcast(self.shape, other.shape)
        if shape is None:
            _fail(AFFINE_INDEX, f"shapes {self.shape} and {other.shape} do not broadcast")
        rank = len(shape)
        pairs = zip(self.aligned(rank), other.aligned(rank), strict=True)
        return Index(shape, [a + sign * b for a, b in pairs], self.constant + sign * other.constant)

    def __add__(self, other: Any) -> Any:
        return self._combine(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._combine(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._combine(other, 1)

    def __neg__(self) -> Index:
        return self * -1

    def __mul__(self, other: Any) -> Any:
        number = _as_integer(other)
        if number is None:
            return self._not_affine("*", other) if isinstance(other, Index) else NotImplemented
        return Index(self.shape, [c * number for c in self.coefficients], self.constant * number)

    __rmul__ = __mul__

    def _not_affine(self, sign: str, other: Any) -> NoReturn:
        _fail(AFFINE_INDEX, f"{self!r} {sign} {other!r} is not affine")

    def __floordiv__(self, other: Any) -> NoReturn:
        self._not_affine("//", other)

    def __mod__(self, other: Any) -> NoReturn:
        self._not_affine("%", other)

    __truediv__ = __floordiv__

    # ---------------------------------------------------------------- comparisons

    def _compare(self, other: Any, sign: int, shift: int, relation: Relation) -> Any:
        """The constraint `sign * (self - other) + shift (relation) 0`."""
        difference = self._combine(other, -1)
        if difference is NotImplemented:
            return NotImplemented
        return Mask((Constraint(difference * sign + shift, relation),))

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, 1, 0, Relation.not_negative)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, 1, -1, Relation.not_negative)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, -1, 0, Relation.not_negative)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, -1, -1, Relation.not_negative)

    def __eq__(self, other: object) -> Any:
        return self._compare(other, 1, 0, Relation.zero)

    def __ne__(self, other: object) -> Any:
        return self._compare(other, 1, 0, Relation.not_zero)

    __hash__ = object.__hash__
    __iter__ = None

    def __bool__(self) -> NoReturn:
        _no_truth_value()

    def __repr__(self) -> str:
        terms = [f"{c}*i{d}" for d, c in enumerate(self.coefficients) if c]
        if self.constant or not terms:
            terms.append(str(self.constant))
        return " + ".join(terms)


def _no_truth_value() -> NoReturn:
    _fail(
        INDEX_CONTROL_FLOW,
        "control flow depends on nl.arange or nl.mgrid",
        "give the condition to the instruction as mask=, joined with &",
    )


class Relation(Enum):
    """How the expression of a constraint compares with 0; the value is the operator's word."""

    not_negative = "greater_equal"
    zero = "equal"
    not_zero = "not_equal"


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


@dataclass(frozen=True, slots=True)
class Box:
    """A block of a tile: per dimension the first index and how many there are, at least 1."""

    starts: tuple[int, ...]
    sizes: tuple[int, ...]

    @staticmethod
    @lru_cache(maxsize=4096)
    def whole(shape: tuple[int, ...]) -> Box:
        """All of a tile."""
        return Box((0,) * len(shape), shape)

    def within(self, shape: tuple[int, ...]) -> Box:
        """The box in an operand of another shape that broadcasts to the tile.

        Its dimensions are the last ones of the tile; those of size 1 stay whole.
        """
        if self.sizes == shape:  # all of it: there is no room to start elsewhere
            return self
        rank = len(shape)
        starts = self.starts[len(self.starts) - rank :]
        sizes = self.sizes[len(self.sizes) - rank :]
        pairs = list(zip(starts, sizes, shape, strict=True))
        return Box(
            tuple(0 if n == 1 else start for start, _, n in pairs),
            tuple(1 if n == 1 else size for _, size, n in pairs),
        )

    def of(self, axes: Sequence[int], shape: tuple[int, ...]) -> Box:
        """The box in an operand whose dimensions are those numbered `axes` of the tile."""
        picked = Box(tuple(self.starts[d] for d in axes), tuple(self.sizes[d] for d in axes))
        return picked.within(shape)

    def with_partitions(self, partitions: int, shape: tuple[int, ...]) -> Box:
        """The box in an operand that has only the partitions in common with the tile.

        `partitions` is how many the tile has; an operand with another number stays whole.
        """
        if shape[0] != partitions:
            return Box.whole(shape)
        rest = Box.whole(shape[1:])
        return Box((self.starts[0], *rest.starts), (self.sizes[0], *rest.sizes))

    def across(self, axes: Sequence[int], shape: Sequence[int]) -> Box:
        """The box in a tile of `shape`, of whose dimensions this one has those numbered `axes`."""
        starts, sizes = [0] * len(shape), list(shape)
        for dim, start, size in zip(axes, self.starts, self.sizes, strict=True):
            starts[dim], sizes[dim] = start, size
        return Box(tuple(starts), tuple(sizes))

    def intersection(self, other: Box) -> Box | None:
        """What two boxes have in common, if anything."""
        starts = tuple(map(max, self.starts, other.starts))
        ends = [
            min(a + n, b + m)
            for a, n, b, m in zip(self.starts, self.sizes, other.starts, other.sizes, strict=True)
        ]
        sizes = tuple(end - start for end, start in zip(ends, starts, strict=True))
        return Box(starts, sizes) if min(sizes) > 0 else None

    def is_whole(self, shape: tuple[int, ...]) -> bool:
        """True for all of a tile of this shape."""
        return self.sizes == shape


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
        _no_truth_value()

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
        slab = Box(_put(box.starts, dim, index), _put(box.sizes, dim, 1))
        for constraint in rest:
            tight = _tightened(slab, constraint)
            if tight is None:
                break
            slab = tight
        else:
            inner = _blocks(slab, rest, dim + 1)
            if previous and _alike(previous, inner, dim):
                inner = [(start, _put(size, dim, size[dim] + 1)) for start, size in previous]
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
        point = Box(_put(box.starts, dim, index), _put(box.sizes, dim, 1))
        if any(c.everywhere(point) is not True for c in rest):
            continue
        if result and result[-1][0][dim] + result[-1][1][dim] == index:
            starts, sizes = result[-1]
            result[-1] = (starts, _put(sizes, dim, sizes[dim] + 1))
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
        if _put(starts, dim, 0) != _put(new_starts, dim, 0):
            return False
        if _put(sizes, dim, 0) != _put(new_sizes, dim, 0):
            return False
    return True


def _put(values: tuple[int, ...], at: int, value: int) -> tuple[int, ...]:
    return (*values[:at], value, *values[at + 1 :])


# ------------------------------------------------------------------ what kernels call


def arange(*args: Any) -> Index:
    """`arange(stop)`, `arange(start, stop)` or `arange(start, stop, step)`: one dimension.

    An index of a tile needs two dimensions or more: `nl.arange(128)[:, None]`.
    Source: NKI API reference 2.26, nki.language.arange.
    """
    numbers = [_as_integer(arg) for arg in args]
    if not 1 <= len(numbers) <= 3 or None in numbers:
        _fail(AFFINE_INDEX, f"nl.arange takes one to three integers, got {args!r}")
    values = range(*cast("list[int]", numbers))
    if not values:
        _fail(AFFINE_INDEX, f"nl.arange{args} is empty")
    return Index((len(values),), (values.step,), values.start)


class Grid(tuple[Index, ...]):
    """The index expressions of `nl.mgrid[...]`, of one shape; `.p` is the first dimension's."""

    @property
    def p(self) -> Index:
        """Index of the partition dimension."""
        return self[0]

    @property
    def x(self) -> Index:
        """Index of the first free dimension."""
        return self[1]

    @property
    def y(self) -> Index:
        """Index of the second free dimension."""
        return self[2]

    @property
    def z(self) -> Index:
        """Index of the third free dimension."""
        return self[3]


class _Mgrid:
    """`nl.mgrid[0:128, 0:512]`: one index expression per dimension, all of the same shape.

    Source: NKI API reference 2.26, nki.language.mgrid.
    """

    def __getitem__(self, key: Any) -> Grid:
        keys = cast("tuple[Any, ...]", key if isinstance(key, tuple) else (key,))
        ranges: list[range] = []
        for item in keys:
            given = cast("slice[Any, Any, Any]", item) if isinstance(item, slice) else slice(None)
            parts = (given.start, given.stop, given.step)
            start, stop, step = (_as_integer(0 if part is None else part) for part in parts)
            if start is None or not stop or step is None:
                _fail(AFFINE_INDEX, f"nl.mgrid takes slices with a stop, got {item!r}")
            ranges.append(range(start, stop, step or 1))
        shape = tuple(map(len, ranges))
        if prod(shape) == 0:
            _fail(AFFINE_INDEX, f"nl.mgrid[{key!r}] is empty")
        return Grid(
            Index(shape, [r.step if d == dim else 0 for d in range(len(shape))], r.start)
            for dim, r in enumerate(ranges)
        )


mgrid = _Mgrid()
