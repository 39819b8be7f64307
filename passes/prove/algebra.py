"""The constructors of terms at each level: how the digests of operands become that of a result.

A level is a normalisation. Two terms that a level identifies have equal digests:

- `bits`: operands of commutative operators, and operators that always give the same bits;
- `reassociated`: also sums, products, maxima and minima of the same operands in any order. Sums of
  digests modulo 2**64 represent sums; products, maxima and minima are sums in another domain, to
  which a bijection maps digests;
- `rounding`: also values that are rounded to other float types on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from nkijit.dialects.dtypes import DType, Kind
from nkijit.passes.prove import native
from nkijit.passes.prove.digests import (
    BLOCK,
    CELL,
    EVEN,
    FLAG,
    LANES,
    Cells,
    Words,
    cells_of,
    column_sums,
    differ,
    inverse,
    numbers,
    ordered,
    prefixes,
    row_sums,
    tag,
    unordered,
    weighted_sums,
    weights,
    words,
)
from nkijit.passes.prove.products import sums_of_products


class Level(StrEnum):
    """A degree of equality, the strictest first."""

    bits = "bits"
    reassociated = "reassociated"
    rounding = "rounding"

    @property
    def order(self) -> int:
        """The position among the levels; 0 is the strictest."""
        return list(Level).index(self)

    def implies(self, other: Level) -> bool:
        """True if kernels that are equal at this level are equal at the other level."""
        return self.order <= other.order


COMMUTATIVE = frozenset(
    ("add", "multiply", "equal", "not_equal", "logical_and", "logical_or", "logical_xor")
)
"""Operators whose operands can be exchanged without a change of bits.

`maximum` and `minimum` of +0.0 and -0.0 may depend on the order.
"""
COMMUTATIVE_BITS = frozenset(("bitwise_and", "bitwise_or", "bitwise_xor"))
REVERSED = {"greater": "less", "greater_equal": "less_equal"}
"""Comparisons, and the comparison that gives the same bits for exchanged operands."""

_SHIFT = np.uint64(32)


@dataclass(frozen=True, slots=True)
class Domain:
    """A bijection of words: sums in the domain represent an associative, commutative operator."""

    name: str
    neutral: float
    """The neutral element of the operator."""

    @property
    def _first(self) -> np.uint64:
        return tag("domain", self.name, 1)

    @property
    def _second(self) -> np.uint64:
        return tag("domain", self.name, 2)

    @property
    def _shift(self) -> np.uint64:
        return tag("domain", self.name, 3)

    @property
    def words(self) -> tuple[np.uint64, ...]:
        """The words of `enter` and `leave`, in the order of their use."""
        first, second = self._first, self._second
        return inverse(second), inverse(first), first, second, self._shift

    def enter(self, x: Words) -> Words:
        """Map digests to the domain."""
        out = np.empty_like(x)
        second, first, *_, shift = self.words
        if native.run("entered", out, (x,), (second, first, shift)):
            return out
        x = x ^ (x >> _SHIFT)
        x *= second
        x ^= x >> _SHIFT
        x *= first
        x ^= x >> _SHIFT
        x -= shift
        return x

    def leave(self, x: Words) -> Words:
        """Map sums in the domain to digests. Inverse of `enter`."""
        x = x + self._shift
        x ^= x >> _SHIFT
        x *= self._first
        x ^= x >> _SHIFT
        x *= self._second
        x ^= x >> _SHIFT
        return x

    @property
    def identity(self) -> Words:
        """The digest of the operator's neutral element."""
        return self.leave(np.zeros(LANES, np.uint64))


DOMAINS = {
    "multiply": Domain("multiply", 1.0),
    "maximum": Domain("maximum", -np.inf),
    "minimum": Domain("minimum", np.inf),
}
IDEMPOTENT = frozenset(("maximum", "minimum"))


class Algebra:
    """The constructors of terms at one level."""

    def __init__(self, level: Level):
        self.level = level
        self._numbers: list[tuple[Words, npt.NDArray[np.float64]]] = []
        """The first words of the digests of all numbers, with the numbers."""
        self._scalars: dict[str, Cells] = {}
        """The digests of numbers that were requested as Python floats."""
        self._sorted: tuple[int, Words, npt.NDArray[np.float64]] | None = None
        """The entries of `_numbers` in the order of the words, and the number of entries."""

    @property
    def reassociates(self) -> bool:
        """True if sums and products are equal in any order."""
        return self.level is not Level.bits

    # ---------------------------------------------------------------- constants and types

    def number(self, values: Any) -> Cells:
        """Return the digests of constants."""
        key = repr(values) if isinstance(values, float) else None
        if key is not None and key in self._scalars:
            return self._scalars[key]
        found = self._number(np.asarray(values))
        if key is not None:
            self._scalars[key] = found
        return found

    def _number(self, values: npt.NDArray[Any]) -> Cells:
        found, exact = self._of_numbers(values), values.astype(np.float64)
        self._numbers.append((words(found)[::LANES].copy(), exact.reshape(-1)))
        return found

    def _of_numbers(self, values: npt.NDArray[Any]) -> Cells:
        found = numbers(values)
        if self.reassociates:
            exact = values.astype(np.float64)
            found[exact == 0] = 0
            for domain in DOMAINS.values():
                found[exact == domain.neutral] = domain.identity.view(CELL)
        return found

    def values(self, cells: Cells) -> npt.NDArray[np.float64] | None:
        """Return the numbers with these digests; None if one of the digests is no number."""
        known, values = self.known(cells)
        return values if known.all() else None

    def known(self, cells: Cells) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
        """Return which digests are those of numbers, and the numbers."""
        if not self._numbers:
            return np.zeros(cells.shape, np.bool_), np.zeros(cells.shape)
        if self._sorted is None or self._sorted[0] != len(self._numbers):
            firsts, numbers = (np.concatenate(each) for each in zip(*self._numbers, strict=True))
            firsts, at = np.unique(firsts, return_index=True)
            self._sorted = len(self._numbers), firsts, numbers[at]
        _, known, values = self._sorted
        at = np.minimum(np.searchsorted(known, words(cells)[::LANES]), len(known) - 1)
        found = values[at].reshape(cells.shape)
        return ~differ(self._of_numbers(found), cells), found

    def rounded(self, x: Cells, dtype: DType) -> Cells:
        """Return float32 values as a data type stores them."""
        if dtype.name == "float32":
            return x
        if self.level is Level.rounding and dtype.kind is Kind.float:
            return x
        return self.unary(("round", dtype.name), x)

    def as_float32(self, x: Cells, dtype: DType) -> Cells:
        """Return stored elements as float32 values; widening without loss is the identity."""
        if dtype.is_integer and dtype.bits > np.finfo(np.float32).nmant + 1:
            return self.unary(("float32", dtype.name), x)
        return x

    def recast(self, x: Cells, dtype: DType, into: DType) -> Cells:
        """Return the same bits as elements of another data type of equal width."""
        if dtype is into:
            return x
        if self.reassociates:
            flat = _bits_domain(into.name).leave(_bits_domain(dtype.name).enter(words(x)))
            return cells_of(flat, x.shape)
        return cells_of(_recast(words(x), dtype.name, into.name), x.shape)

    # ---------------------------------------------------------------- operators

    def unary(self, word: object, x: Cells) -> Cells:
        """Return `word(x)`."""
        if word == "copy":
            return x
        if word == "square":
            return self.binary("multiply", x, x, x.shape)
        if word == "negate" and self.reassociates:
            return cells_of(np.negative(words(x)), x.shape)
        return cells_of(ordered(tag("unary", word), words(x)), x.shape)

    def binary(self, word: str, x: Cells, y: Cells, shape: tuple[int, ...]) -> Cells:
        """Return `x word y` for operands that are broadcast to a shape."""
        if word in REVERSED:
            word, x, y = REVERSED[word], y, x
        left, right = words(x, shape), words(y, shape)
        if self.reassociates and word == "add":
            return cells_of(left + right, shape)
        if self.reassociates and word == "subtract":
            return cells_of(left - right, shape)
        if word == "subtract":  # the same bits in IEEE 754
            return self.binary("add", x, self.unary("negate", y), shape)
        domain = DOMAINS.get(word) if self.reassociates else None
        if domain is not None:
            return cells_of(_joined(domain, left, right), shape)
        if word == "add":
            return cells_of(_added(left, right, words(self.number(0.0))), shape)
        if word in COMMUTATIVE:
            return cells_of(unordered(tag("binary", word), left, right), shape)
        return cells_of(ordered(tag("binary", word), left, right), shape)

    def bits(self, word: str, kinds: tuple[str, ...], *operands: Cells) -> Cells:
        """Return an operator on bits, or on integers, of the data types `kinds`."""
        shape = np.broadcast_shapes(*(each.shape for each in operands))
        flat = [words(each, shape) for each in operands]
        if word in COMMUTATIVE_BITS | COMMUTATIVE and len(flat) == 2 and kinds[0] == kinds[1]:
            return cells_of(unordered(tag("bits", word, kinds), *flat), shape)
        return cells_of(ordered(tag("bits", word, kinds), *flat), shape)

    def on_registers(self, word: str, x: Cells, y: Cells) -> Cells:
        """Return an operator on two 32-bit integers of registers."""
        return self.bits(word, ("register", "register"), x, y)

    # ---------------------------------------------------------------- along the free dimension

    def reduce(self, word: str, x: Cells) -> Cells:
        """Return the reduction of each row of a (P, N) array: (P, 1)."""
        sums = self._combined(word, x)
        if sums is not None:
            return sums
        name = tag("reduce", word, x.shape[1])
        return cells_of(ordered(name, words(weighted_sums(x))), (len(x), 1))

    def fold(self, word: str, start: Cells, x: Cells) -> Cells:
        """Return the reduction of `start` (P, 1) and each row of a (P, N) array: (P, 1)."""
        sums = self._combined(word, x)
        if sums is not None:
            return self.binary(word, start, sums, start.shape)
        name = tag("fold", word, x.shape[1])
        flat = ordered(name, words(start), words(weighted_sums(x)))
        return cells_of(flat, start.shape)

    def _combined(self, word: str, x: Cells) -> Cells | None:
        """Return the reduction of each row as a multiset; None for an operator without one."""
        if not self.reassociates:
            return None
        flat = words(x).reshape(len(x), -1)
        if word == "add":
            return row_sums(flat)
        domain = DOMAINS.get(word)
        if domain is None:
            return None
        sums = row_sums(domain.enter(flat))
        return cells_of(domain.leave(words(sums)), sums.shape)

    def running(self, word: str, x: Cells, start: Cells) -> Cells:
        """Return `out[i] = x[i] word out[i - 1]` for each row of a (P, N) array, after `start`."""
        if self.reassociates and (word == "add" or word in DOMAINS):
            domain = DOMAINS.get(word)
            flat = words(x) if domain is None else domain.enter(words(x))
            first = words(start) if domain is None else domain.enter(words(start))
            sums = np.add.accumulate(flat.reshape(*x.shape, LANES), axis=1)
            sums += first.reshape(len(x), 1, LANES)
            flat = sums.reshape(-1)
            return cells_of(flat if domain is None else domain.leave(flat), x.shape)
        return self.scan(("running", word), start, x)

    def scan(self, name: object, start: Cells, *rows: Cells) -> Cells:
        """Return a function of `start` (P, 1) and of the prefix of each row that ends in it."""
        shape = rows[0].shape
        places = np.broadcast_to(weights(shape[1], "prefix")[:, None], (*shape, LANES))
        flat = [prefixes(each).reshape(-1) for each in rows]
        start = np.broadcast_to(start.reshape(-1, 1), shape)
        result = ordered(tag("scan", name), words(start), places.reshape(-1), *flat)
        return cells_of(result, shape)

    # ---------------------------------------------------------------- functions of arrays

    def elements(self, name: object, *operands: Cells) -> Cells:
        """Return a function of elements at the same place."""
        shape = np.broadcast_shapes(*(each.shape for each in operands))
        flat = [words(each, shape) for each in operands]
        return cells_of(ordered(tag("elements", name), *flat), shape)

    def by_column(self, name: object, shape: tuple[int, ...], *operands: Cells) -> Cells:
        """Return a function of elements at the same place, and of the number of their column.

        Operands are broadcast to `shape`, or to its partitions and columns.
        """
        rows = shape[0], int(np.prod(shape[1:]))
        flat = [words(each, shape if each.shape == shape else rows) for each in operands]
        places = np.tile(np.repeat(weights(rows[1], "column"), LANES), rows[0])
        return cells_of(ordered(tag("columns", name), places, *flat), shape)

    def of_rows(self, name: object, shape: tuple[int, int], *operands: Cells) -> Cells:
        """Return a function of whole rows: (P, N) results, each a function of all of its row."""
        rows = [np.broadcast_to(weighted_sums(each), (shape[0], 1)) for each in operands]
        sizes = tuple(each.shape[1] for each in operands)
        return self._spread(("rows", name, sizes, shape[1]), shape, rows, columns=shape[1])

    def of_tiles(self, name: object, shape: tuple[int, ...], *operands: Cells) -> Cells:
        """Return a function of whole tiles: each result is a function of all elements."""
        whole = [weighted_sums(each.reshape(1, -1)) for each in operands]
        size = int(np.prod(shape))
        shapes = tuple(each.shape for each in operands)
        key = ("tiles", name, shapes, shape)
        return self._spread(key, (1, size), whole, columns=size).reshape(shape)

    def _spread(
        self, name: object, shape: tuple[int, int], rows: list[Cells], *, columns: int
    ) -> Cells:
        places = np.broadcast_to(weights(columns, "result")[:, None], (*shape, LANES))
        flat = [words(each, shape) for each in rows]
        return cells_of(ordered(tag(name), places.reshape(-1), *flat), shape)

    # ---------------------------------------------------------------- products of matrices

    def product(self, stationary: Cells, moving: Cells) -> Cells:
        """Return `stationary` (K, M) transposed times `moving` (K, N): (M, N)."""
        if self.reassociates:
            return sums_of_products(stationary, moving)
        shape = stationary.shape[1], moving.shape[1]
        left = words(column_sums(stationary)[:, None], shape)
        right = words(column_sums(moving), shape)
        return cells_of(unordered(tag("product", len(stationary)), left, right), shape)


@cache
def _bits_domain(name: str) -> Domain:
    return Domain(f"bits of {name}", 0.0)


def _recast(x: Words, old: str, new: str) -> Words:
    """Map digests of the bits of one type to those of another type; invertible.

    Bits are no sums, so the flag of the first lane moves to the second lane, and back.
    """
    flags = (x & FLAG).reshape(-1, LANES)[:, ::-1].reshape(-1)
    top = np.uint64((1 << 63) - 1)
    words63 = x >> FLAG
    for name, inverted in ((old, True), (new, False)):
        factor = tag("bits of", name)
        words63 ^= words63 >> _SHIFT
        words63 = (words63 * (inverse(factor) if inverted else factor)) & top
        words63 ^= words63 >> _SHIFT
    return (words63 << FLAG) | flags


def _added(x: Words, y: Words, zero: Words) -> Words:
    """Return sums with the same bits: 0 + a differs from a only for a = -0.0.

    The flag in the first lane of a digest a represents 0 + a. It moves outwards, because
    (0 + a) + b and 0 + (a + b) have equal bits for all a and b.
    """
    out = np.empty_like(x)
    if native.run("added", out, (x, y), (tag("binary", "add"), zero[0])):
        return out
    for start in range(0, len(x), BLOCK):
        part = slice(start, start + BLOCK)
        _add_block(x[part], y[part], zero, out[part])
    return out


def _add_block(x: Words, y: Words, zero: Words, out: Words) -> None:
    flags = (x[::LANES] | y[::LANES]) & FLAG
    flagged = bool(flags.any())
    if flagged:
        x, y = x.copy(), y.copy()
        x[::LANES] &= EVEN
        y[::LANES] &= EVEN
    out[...] = unordered(tag("binary", "add"), x, y)
    for one, other in ((x, y), (y, x)):
        is_zero = one[::LANES] == zero[0]
        if is_zero.any():
            out.reshape(-1, LANES)[is_zero] = other.reshape(-1, LANES)[is_zero]
            flags[is_zero & (other[::LANES] != zero[0])] = FLAG
            flagged = True
    if flagged:
        out[::LANES] |= flags


def _joined(domain: Domain, x: Words, y: Words) -> Words:
    out = np.empty_like(x)
    once = domain.name in IDEMPOTENT
    if native.run("joined_once" if once else "joined", out, (x, y), domain.words):
        return out
    for start in range(0, len(x), BLOCK):
        part = slice(start, start + BLOCK)
        out[part] = domain.leave(domain.enter(x[part]) + domain.enter(y[part]))
    if once:
        same = (x == y).reshape(-1, LANES).all(axis=1)
        if same.any():
            out.reshape(-1, LANES)[same] = x.reshape(-1, LANES)[same]
    return out
