"""Index expressions and masks of the classic API in the source.

`row = tile * 128 + nl.arange(128)[:, None]` is an `Index`: its begin (`tile * 128`), and a step and
size for each dimension of the tile. A comparison of index expressions is a `Mask`. Both become
bounds of slices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nkijit.migrate.amounts import Amount, ceil_div, greatest, least
from nkijit.migrate.errors import NoRewriteError

Dims = Mapping[int, tuple[Amount, Amount]]
"""(step, size) for each dimension of a tile, counted from the end (-1 is the last)."""


@dataclass(frozen=True)
class Index:
    """An index expression: `begin + Σ step * i` over the dimensions of a tile."""

    begin: Amount
    rank: int
    dims: Dims = field(default_factory=dict[int, tuple[Amount, Amount]])

    @staticmethod
    def arange(start: Amount, stop: Amount, step: Amount | None = None) -> Index:
        """Return the index of `nl.arange(start, stop, step)`."""
        step = step or Amount.of(1)
        return Index(start, 1, {-1: (step, ceil_div(stop - start, step))})

    @staticmethod
    def mesh(axes: Sequence[tuple[Amount, Amount, Amount | None]]) -> list[Index]:
        """Return the indices of `nl.mgrid[a:b, c:d]`, one per axis."""
        rank = len(axes)
        return [
            Index(start, rank, {at - rank: Index.arange(start, stop, step).dims[-1]})
            for at, (start, stop, step) in enumerate(axes)
        ]

    def reshaped(self, keys: Sequence[str]) -> Index:
        """Return the subscripted index, e.g. `index[:, None]`; keys are `:`, `None` and `...`."""
        taken = sum(key == ":" for key in keys)
        items = list(keys)
        if "..." not in items:
            items.append("...")
        at = items.index("...")
        items[at : at + 1] = [":"] * (self.rank - taken)
        if sum(key == ":" for key in items) != self.rank:
            raise NoRewriteError("an index expression with another number of dimensions")
        places = [at for at, key in enumerate(items) if key == ":"]
        rank = len(items)
        dims = {places[d + self.rank] - rank: value for d, value in self.dims.items()}
        return Index(self.begin, rank, dims)

    def plus(self, other: Index | Amount, sign: int = 1) -> Index:
        """Return the sum, or the difference if `sign` is -1."""
        if isinstance(other, Amount):
            return Index(self.begin + other.times(sign), self.rank, self.dims)
        dims = dict(self.dims)
        for dim, (step, size) in other.dims.items():
            step = step.times(sign)
            if dim in dims:
                mine, own = dims[dim]
                step, size = mine + step, least(own, size)
            dims[dim] = (step, size)
        begin = self.begin + other.begin.times(sign)
        return Index(begin, max(self.rank, other.rank), dims)

    def times(self, number: Amount) -> Index:
        """Return the product with a number."""
        dims = {d: (step.times(number), size) for d, (step, size) in self.dims.items()}
        return Index(self.begin.times(number), self.rank, dims)

    @property
    def is_plain(self) -> bool:
        """Whether the index is a plain number, without a dimension."""
        return not self.dims


@dataclass(frozen=True)
class Bound:
    """A comparison such as `index < limit` as a range of one dimension: from `low` up to `high`."""

    dim: int
    size: Amount
    low: Amount
    high: Amount


@dataclass(frozen=True)
class Mask:
    """A conjunction of comparisons of index expressions, and of other conditions."""

    comparisons: tuple[tuple[Index, str, Index], ...] = ()
    conditions: tuple[str, ...] = ()

    def joined(self, other: Mask) -> Mask:
        """Return the conjunction of this mask and another mask."""
        return Mask(self.comparisons + other.comparisons, self.conditions + other.conditions)

    @property
    def bounds(self) -> list[Bound]:
        """The ranges of the tile's dimensions that the mask selects.

        Raises NoRewriteError if a comparison selects no range.
        """
        return [_bound(*comparison) for comparison in self.comparisons]


def _bound(left: Index, sign: str, right: Index) -> Bound:
    """Convert a comparison such as `left < right` to a range of the dimension that it contains."""
    difference = left.plus(right, -1)
    dims = {d: v for d, v in difference.dims.items() if v[0].number != 0}
    if len(dims) != 1:
        raise NoRewriteError("a mask that is no block of the tile")
    ((dim, (step, size)),) = dims.items()
    begin = difference.begin
    if step.number is None:
        raise NoRewriteError("a mask with a step that is no number")
    if step.number < 0:
        step, begin = -step, -begin
        sign = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(sign, sign)
    zero = Amount.of(0)
    if sign in ("<", "<="):
        # step * i + begin < 0
        limit = -begin + (1 if sign == "<=" else 0)
        return Bound(dim, size, zero, least(size, ceil_div(limit, step)))
    if sign in (">", ">="):
        first = -begin + (1 if sign == ">" else 0)
        return Bound(dim, size, greatest(zero, ceil_div(first, step)), size)
    raise NoRewriteError(f"a mask with {sign}")


__all__ = ["Bound", "Dims", "Index", "Mask"]
