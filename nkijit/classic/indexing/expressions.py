"""Index expressions and masks, which are affine in the dimensions of the tile that they index.

`nl.arange(128)[:, None] * 2 + 1` is an `Index`: a constant, and one coefficient per dimension of
the tile that the expression indexes. Loop variables and program ids are plain numbers during
tracing, so they are part of the constant. A comparison of index expressions, `i < 64`, is a `Mask`:
a conjunction of such comparisons. Neither stores an array. Index expressions become access
patterns. A mask makes the patterns smaller, or becomes the predicate of `nisa.affine_select`.

Sources: NKI API reference 2.21 to 2.26, nki.language.arange, nki.language.mgrid and nki.api.shared,
"NKI API Masking"; NKI programming model, "Tensor Indexing".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, NoReturn, cast

import numpy as np

from nkijit.classic.indexing.boxes import TileBox, broadcast
from nkijit.classic.indexing.quotients import Divided
from nkijit.dialects.access import MAX_ELEMENTS
from nkijit.dialects.python_values import as_index, numbers_in, one_line
from nkijit.dialects.rule_texts.classic import (
    AFFINE_INDEX,
    INDEX_ASSIGNMENT,
    INDEX_CONTROL_FLOW,
    MASK_EXPRESSION,
)
from nkijit.tracing.conditions import condition_at, help_for_index, operands_at
from nkijit.tracing.locations import author_frame
from nkijit.tracing.tracer import tracer_for


def fail_index(rule: Any, what: str, help: str = "") -> NoReturn:
    """End the trace at a wrong index expression; `what` is the finding's message."""
    tracer_for("nl.arange").fail(rule, "index expression", what, help)


def _fail_mask(rule: Any, what: str, help: str = "") -> NoReturn:
    tracer_for("mask").fail(rule, "mask", what, help)


def as_integer(value: Any) -> int | None:
    """Return an integer as an int; None for other values and for integers above `MAX_ELEMENTS`."""
    number = as_index(value)
    return None if number is None or abs(number) > MAX_ELEMENTS else number


class Relation(Enum):
    """The comparison operator between an affine expression and 0, by its name in `OPERATORS`."""

    not_negative = "greater_equal"
    zero = "equal"
    not_zero = "not_equal"


class AffineForm:
    """An index expression without its constant; see `Index` for the fields.

    A loop variable is part of the constant, so the expressions of all iterations share their forms.
    Equal forms are the same object while `of` caches them.
    """

    __slots__ = ("_bounds", "_scaled", "coefficients", "filled", "shape", "span")

    shape: tuple[int, ...]
    coefficients: tuple[int, ...]
    filled: tuple[bool, ...]
    span: tuple[int, ...]

    def __init__(
        self, shape: tuple[int, ...], coefficients: tuple[int, ...], filled: tuple[bool, ...]
    ):
        self.shape = shape
        self.filled = filled or (False,) * len(shape)
        self.coefficients = tuple(
            c if size > 1 else 0 for c, size in zip(coefficients, shape, strict=True)
        )
        self.span = tuple(1 if f else n for n, f in zip(shape, self.filled, strict=True))
        self._bounds: dict[TileBox, tuple[int, int]] = {}
        self._scaled: dict[int, AffineForm] = {}

    @staticmethod
    @lru_cache(maxsize=65536)
    def of(
        shape: tuple[int, ...], coefficients: tuple[int, ...], filled: tuple[bool, ...]
    ) -> AffineForm:
        """Return the form (expression without constant) with these coefficients."""
        return AffineForm(shape, coefficients, filled)

    def aligned(self, rank: int) -> tuple[int, ...]:
        """Return the coefficients for a tile of `rank` dimensions.

        New dimensions come first, as in NumPy's broadcasting, with the coefficient 0.
        """
        return (0,) * (rank - len(self.shape)) + self.coefficients

    def picked(self, dims: Sequence[int], rank: int) -> AffineForm:
        """Return the form with only the dimensions `dims`, after broadcasting to rank `rank`."""
        new = rank - len(self.shape)
        shape, filled = (1,) * new + self.shape, (False,) * new + self.filled
        coefficients = self.aligned(rank)
        return AffineForm.of(
            tuple(shape[d] for d in dims),
            tuple(coefficients[d] for d in dims),
            tuple(filled[d] for d in dims),
        )

    def scaled(self, number: int) -> AffineForm:
        """Return the form of an expression times a number."""
        found = self._scaled.get(number)
        if found is None:
            coefficients = tuple(c * number for c in self.coefficients)
            found = AffineForm.of(self.shape, coefficients, self.filled)
            if len(self._scaled) < _REMEMBERED:
                self._scaled[number] = found
        return found

    def bounds(self, box: TileBox) -> tuple[int, int]:
        """Return the lowest and the highest value, without the constant, in a box of the tile."""
        found = self._bounds.get(box)
        if found is None:
            low = high = 0
            coefficients = self.aligned(len(box.starts))
            for c, start, size in zip(coefficients, box.starts, box.sizes, strict=True):
                ends = (c * start, c * (start + size - 1))
                low += min(ends)
                high += max(ends)
            found = low, high
            if len(self._bounds) < _REMEMBERED:
                self._bounds[box] = found
        return found


_REMEMBERED = 64
"""The maximum size of each cache of an `AffineForm`: of its multiples, and of its bounds by box."""


class Index:
    """An affine index expression, e.g. `nl.arange(128)[:, None]`.

    The expression's value at position (i0, i1, …) of a tile of `shape` is
    `constant + Σ coefficients[d] * i_d`.
    """

    __slots__ = ("constant", "form")
    __array_ufunc__ = None  # NumPy integers then leave the operator to this class

    nki_tile_hint = "make a tile of an index expression with nisa.iota(expr, dtype=nl.int32)"
    """The advice in findings about an argument that must be a tile."""

    def __init__(
        self,
        shape: Sequence[int],
        coefficients: Sequence[int],
        constant: int,
        filled: Sequence[bool] = (),
    ):
        """`coefficients` of dimensions of size 1 do not matter and are stored as 0.

        `filled`: for each dimension, True if `nl.mgrid` has added it only to give all expressions
        of a mesh the same shape; by default False.
        """
        self.form = AffineForm.of(tuple(shape), tuple(coefficients), tuple(filled))
        self.constant = constant

    @staticmethod
    def of(form: AffineForm, constant: int) -> Index:
        """Return the expression that consists of a form and a constant."""
        index = Index.__new__(Index)
        index.form = form
        index.constant = constant
        return index

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tile that the expression is for."""
        return self.form.shape

    @property
    def coefficients(self) -> tuple[int, ...]:
        """The change of the value per step in each dimension."""
        return self.form.coefficients

    @property
    def filled(self) -> tuple[bool, ...]:
        """For each dimension, True if only `nl.mgrid` has added it; see `__init__`."""
        return self.form.filled

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.form.shape)

    @property
    def span(self) -> tuple[int, ...]:
        """The shape that an index selects: without the dimensions that `nl.mgrid` has filled.

        The reference calls mgrid dense, as in NumPy. But published kernels index one column with
        the first expression of a wide mesh, and combine expressions of meshes of different sizes.
        """
        return self.form.span

    def picked(self, dims: Sequence[int], rank: int) -> Index:
        """Return the expression with only the dimensions `dims`, after broadcasting to `rank`
        dimensions."""
        return Index.of(self.form.picked(dims, rank), self.constant)

    def aligned(self, rank: int) -> tuple[int, ...]:
        """Return the coefficients for a tile of `rank` dimensions; see `AffineForm.aligned`."""
        return self.form.aligned(rank)

    def bounds(self, box: TileBox) -> tuple[int, int]:
        """Return the lowest and the highest value in a box of the tile, both inclusive."""
        low, high = self.form.bounds(box)
        return low + self.constant, high + self.constant

    def part(self, box: TileBox) -> Index:
        """Return the expression for the elements of a box, as an expression of the box's shape."""
        coefficients = self.aligned(len(box.starts))
        shift = sum(c * start for c, start in zip(coefficients, box.starts, strict=True))
        filled = (False,) * (len(box.sizes) - self.ndim) + self.filled
        return Index(box.sizes, coefficients, self.constant + shift, filled)

    # ---------------------------------------------------------------- dimensions

    def __getitem__(self, key: Any) -> Index:
        """New dimensions (`None`), slices, integers and `...`, as in NumPy."""
        keys = list(cast("tuple[Any, ...]", key if isinstance(key, tuple) else (key,)))
        taken = sum(item is not None and item is not Ellipsis for item in keys)
        at = next((n for n, item in enumerate(keys) if item is Ellipsis), len(keys))
        keys[at : at + 1] = [slice(None)] * (self.ndim - taken)
        shape: list[int] = []
        coefficients: list[int] = []
        filled: list[bool] = []
        constant, dim = self.constant, 0
        for item in keys:
            if item is None:
                shape.append(1)
                coefficients.append(0)
                filled.append(False)
                continue
            if dim >= self.ndim:
                fail_index(
                    AFFINE_INDEX,
                    f"too many indices for an expression of shape {self.shape}",
                    f"write {self.ndim} of `:` or integers, and None for each further dimension",
                )
            size, step = self.shape[dim], self.coefficients[dim]
            dim += 1
            number = as_integer(item)
            chosen = numbers_in(size, item)
            if chosen is not None:
                constant += step * chosen.start
                shape.append(len(chosen))
                coefficients.append(step * chosen.step)
                filled.append(self.filled[dim - 1])
            elif number is not None and -size <= number < size:
                constant += step * (number % size)
            else:
                fail_index(
                    AFFINE_INDEX,
                    f"index {one_line(item)} of an expression of shape {self.shape}",
                    f"write `:`, None, a slice, or an integer from 0 to {size - 1}",
                )
        return Index(shape, coefficients, constant, filled)

    def expand_dims(self, axis: int) -> Index:
        """A new dimension of size 1 at `axis`."""
        at = axis if axis >= 0 else axis + self.ndim + 1
        return self[(slice(None),) * at + (None,)]

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        fail_index(
            INDEX_ASSIGNMENT,
            "an index expression does not support item assignment",
            "make a tile of it with nisa.iota first",
        )

    # ---------------------------------------------------------------- arithmetic

    def _combine(self, other: Any, sign: int) -> Any:
        number = as_integer(other)
        if number is not None:
            return Index.of(self.form, self.constant + sign * number)
        if not isinstance(other, Index):
            return NotImplemented
        form = _combined(self.form, other.form, sign)
        if form is None:
            fail_index(
                AFFINE_INDEX,
                f"shapes {self.shape} and {other.shape} do not broadcast",
                "give each expression a dimension of its own, nl.arange(n)[:, None] and "
                "nl.arange(m)[None, :], or the same size",
            )
        return Index.of(form, self.constant + sign * other.constant)

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
        number = as_integer(other)
        if number is None:
            return self._not_affine("*", other) if isinstance(other, Index) else NotImplemented
        product = Index.of(self.form.scaled(number), self.constant * number)
        if any(abs(each) > MAX_ELEMENTS for each in (product.constant, *product.coefficients)):
            fail_index(AFFINE_INDEX, f"{self!r} * {number} is beyond every tensor")
        return product

    __rmul__ = __mul__

    def _not_affine(self, sign: str, other: Any) -> NoReturn:
        message, help = self._reason(sign, other)
        fail_index(AFFINE_INDEX, message, help)

    def _reason(self, sign: str, other: Any) -> tuple[str, str]:
        """Return message and help of the finding that an operation is not affine."""
        one, two = operands_at(author_frame()) or (repr(self), one_line(other))
        help = "multiply an expression by an integer, and add expressions"
        if sign != "*":
            help = (
                "split the dimension instead: reshape the tensor so that it has a dimension for "
                "the quotient and one for the remainder, and index each with an nl.arange"
            )
        number, (low, high) = as_integer(other), self.bounds(TileBox.whole(self.shape))
        if sign == "%" and number is not None and high - low < number:
            limit = two if low >= 0 else "0"
            less, rest = (one, f"{one} - {two}") if low >= 0 else (f"{one} + {two}", one)
            help = (
                f"to wrap around, write two instructions: one with the index {less} and "
                f"mask={one} < {limit}, one with the index {rest} and mask={one} >= {limit}"
            )
        shown = [f"({each})" if " " in each else each for each in (one, two)]
        return f" {sign} ".join(shown) + " is not affine", help

    def _divided(self, sign: str, other: Any) -> Any:
        """Return a quotient (`sign` is //) or remainder (%) of floor division by an integer.

        It is an expression if it is affine: if the terms that are not multiples of the divisor have
        one quotient. Otherwise it is a `Divided`.
        """
        number = as_integer(other)
        if number is None or number < 1:
            self._not_affine(sign, other)
        whole = tuple(c if c % number == 0 else 0 for c in self.coefficients)
        rest = self - Index(self.shape, whole, 0, self.filled)
        low, high = rest.bounds(TileBox.whole(self.shape))
        quotient = low // number
        if quotient == high // number:
            if sign == "%":
                return rest - quotient * number
            return Index(self.shape, [c // number for c in whole], quotient, self.filled)
        message, help = self._reason(sign, other)
        found = tracer_for("nl.arange").finding(AFFINE_INDEX, "index expression", message, help)
        return Divided(self, number, sign, found)

    def __floordiv__(self, other: Any) -> Any:
        return self._divided("//", other)

    def __mod__(self, other: Any) -> Any:
        return self._divided("%", other)

    def __truediv__(self, other: Any) -> NoReturn:
        self._not_affine("//", other)

    # ---------------------------------------------------------------- comparisons

    def _compare(self, other: Any, sign: int, shift: int, relation: Relation) -> Any:
        """Return the constraint `sign * (self - other) + shift (relation) 0`."""
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

    def __iter__(self) -> NoReturn:
        values = ", ".join(map(str, self._loop_bounds()))
        fail_index(
            INDEX_CONTROL_FLOW,
            "nl.arange and nl.mgrid index tiles, Python cannot loop over them",
            f"loop with nl.affine_range({values}), or with nl.sequential_range({values}) if "
            "iterations depend on earlier ones",
        )

    def _loop_bounds(self) -> tuple[int, ...]:
        """Return the arguments of `range` that give the values along the longest dimension."""
        dim = max(range(self.ndim), key=self.shape.__getitem__, default=0)
        count, step = (self.shape[dim], self.coefficients[dim] or 1) if self.ndim else (1, 1)
        start, stop = self.constant, self.constant + count * step
        return (start, stop, step) if step != 1 else (start, stop) if start else (stop,)

    def __bool__(self) -> NoReturn:
        _no_truth_value()

    def __repr__(self) -> str:
        terms = [f"{c}*i{d}" for d, c in enumerate(self.coefficients) if c]
        if self.constant or not terms:
            terms.append(str(self.constant))
        return " + ".join(terms)


@lru_cache(maxsize=65536)
def _combined(one: AffineForm, other: AffineForm, sign: int) -> AffineForm | None:
    """Return the form of a sum (`sign` is 1) or difference (-1); None if incompatible."""
    shape = broadcast(one.shape, other.shape) or broadcast(one.span, other.span)
    if shape is None:
        return None
    rank = len(shape)
    left, right = one.aligned(rank), other.aligned(rank)
    coefficients = tuple(a + sign * b for a, b in zip(left, right, strict=True))
    return AffineForm.of(shape, coefficients, only_filled((one, other), rank))


def only_filled(forms: Sequence[AffineForm], rank: int) -> tuple[bool, ...]:
    """Return, for each of `rank` dimensions, whether `nl.mgrid` filled it in all expressions.

    Expressions that lack the dimension are ignored.
    """
    known: list[list[bool]] = [[] for _ in range(rank)]
    for form in forms:
        for dim, filled in enumerate(form.filled, rank - len(form.shape)):
            known[dim].append(filled)
    return tuple(bool(found) and all(found) for found in known)


def _no_truth_value() -> NoReturn:
    """End the trace: expressions and masks have no truth value."""
    message = "control flow depends on nl.arange or nl.mgrid"
    fail_index(INDEX_CONTROL_FLOW, message, help_for_index(condition_at(author_frame())))


# ------------------------------------------------------------------ masks


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """One comparison of an affine expression with 0."""

    expression: Index
    relation: Relation

    def negated(self) -> Constraint:
        """Return the constraint that holds exactly where this constraint does not hold."""
        if self.relation is Relation.not_negative:
            return Constraint(-self.expression - 1, self.relation)
        other = Relation.zero if self.relation is Relation.not_zero else Relation.not_zero
        return Constraint(self.expression, other)

    def everywhere(self, box: TileBox) -> bool | None:
        """Return True if the constraint holds everywhere in a box, False if nowhere, else None."""
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

    nki_tile_hint = (
        "select with nl.where(comparison, x, y), or make a tile of 1 and 0 with "
        "nl.broadcast_to(comparison, shape=tile.shape)"
    )
    """The advice in findings about an argument that must be a tile."""

    def __init__(self, constraints: tuple[Constraint, ...]):
        """Create the predicate that holds where all of `constraints` hold."""
        self.constraints = constraints

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tile that the predicate spans."""
        given = [c.expression for c in self.constraints]
        shape = broadcast((1,), *(e.shape for e in given)) or broadcast(*(e.span for e in given))
        if shape is None:
            _fail_mask(MASK_EXPRESSION, "the parts of the mask do not broadcast to one shape")
        return shape

    def part(self, box: TileBox) -> Mask:
        """Return the predicate in a box, for a tile of the box's size."""
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
            _fail_mask(
                MASK_EXPRESSION,
                "~ of several comparisons is no conjunction",
                "negate a single comparison, or write two instructions",
            )
        return Mask((self.constraints[0].negated(),))

    def __or__(self, other: Any) -> Any:
        truth = as_truth(other)
        if truth is not None:
            return EVERYWHERE if truth else self
        _fail_mask(
            MASK_EXPRESSION,
            "a mask is a conjunction, it cannot be joined with |",
            "write one instruction for each part",
        )

    __ror__ = __or__

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        _fail_mask(INDEX_ASSIGNMENT, "a mask does not support item assignment")

    def __bool__(self) -> NoReturn:
        _no_truth_value()

    def __repr__(self) -> str:
        signs = {Relation.not_negative: ">=", Relation.zero: "==", Relation.not_zero: "!="}
        parts = [f"({c.expression!r} {signs[c.relation]} 0)" for c in self.constraints]
        return " & ".join(parts) or "everywhere"


EVERYWHERE = Mask(())
NOWHERE = Mask((Constraint(Index((), (), -1), Relation.not_negative),))


def as_truth(value: Any) -> bool | None:
    """Return a truth value of Python or NumPy as bool; None for any other value.

    Comparisons of plain numbers, such as loop variables, give truth values instead of masks.
    """
    if isinstance(value, bool):
        return value
    if getattr(value, "shape", None) == () and getattr(value, "dtype", None) == np.bool_:
        return bool(value)
    return None


def as_predicate(value: Any) -> Mask | None:
    """Return a comparison of index expressions or of numbers as a mask; None for other values."""
    if isinstance(value, Mask):
        return value
    truth = as_truth(value)
    return None if truth is None else EVERYWHERE if truth else NOWHERE


def as_mask(call: str, mask: Any) -> Mask:
    """Return the `mask=` argument of a call as a mask; None means everywhere."""
    predicate = EVERYWHERE if mask is None else as_predicate(mask)
    if predicate is not None:
        return predicate
    tracer_for(call).fail(
        MASK_EXPRESSION,
        call,
        f"'mask': expected a comparison of affine index expressions, got {one_line(mask)}",
    )
