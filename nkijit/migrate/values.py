"""The values of a classic kernel's expressions, and their text in the current API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from nkijit.migrate.amounts import Amount
from nkijit.migrate.errors import NoRewriteError
from nkijit.migrate.indices import Index, Mask
from nkijit.migrate.observing import Seen


@dataclass(frozen=True)
class Plain:
    """A value with the same text in both APIs, such as a number or a name."""

    text: str


@dataclass(frozen=True)
class Grid:
    """Several index expressions: `nl.mgrid[0:128, 0:512]`."""

    items: tuple[Index, ...]


@dataclass(frozen=True)
class Key:
    """One dimension of an index of the current API: `:`, an integer or a slice."""

    begin: Amount | None = None
    """The first index; None selects the whole dimension."""
    size: Amount | None = None
    """The number of indices; None for an integer index, which drops the dimension."""
    step: Amount = field(default_factory=lambda: Amount.of(1))

    @property
    def drops(self) -> bool:
        """Whether the key is an integer, which drops the dimension."""
        return self.begin is not None and self.size is None

    def __str__(self) -> str:
        if self.begin is None:
            return ":"
        if self.size is None:
            return str(self.begin)
        if self.step.number == 1:
            return f"{self.begin} : {self.begin + self.size}"
        end = self.begin + (self.size - 1).times(self.step) + 1
        return f"{self.begin} : {end} : {self.step}"


Ranges = Mapping[int, tuple[Amount, Amount]]
"""(begin, end) by dimension of a tile."""


@dataclass(frozen=True)
class TensorValue:
    """The text of a tensor expression in the current API: `base`, or `base[keys]`."""

    base: str
    """The text of the tensor without its index; a name if there are `keys`."""
    seen: tuple[Seen, ...]
    """The observed tensors, one per execution of the expression."""
    keys: tuple[Key, ...] | None = None
    is_name: bool = False
    sizes: tuple[Amount | None, ...] | None = None
    """Expressions for the sizes of dimensions; used if `keys` do not determine the size."""
    source: str = ""
    """The text of a tensor with the same dtype; by default `base`."""
    is_view: bool = False
    """Whether the base is a view such as `t.ap(…)`, which instructions can write."""

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.seen[0].shape)

    @property
    def text(self) -> str:
        """The text of the tensor with its index."""
        if self.keys is None or all(key.begin is None for key in self.keys):
            return self.base
        keys = list(self.keys)
        while keys and keys[-1].begin is None:
            keys.pop()
        return f"{self.base}[{', '.join(map(_spaced, keys))}]"

    @property
    def own_keys(self) -> list[Key]:
        """The keys of the dimensions that the index does not drop."""
        return [key for key in self.keys or () if not key.drops]

    @property
    def shape(self) -> str:
        """The text of an expression for the shape."""
        if self.keys is None and self.is_name:
            return f"{self.base}.shape"
        dims = [self.size(d) for d in range(self.rank)]
        return f"({', '.join(dims)}{',' if len(dims) == 1 else ''})"

    def size(self, dim: int) -> str:
        """Return an expression for the size of a dimension."""
        if self.keys is not None and self.own_keys[dim].size is not None:
            return str(self.own_keys[dim].size)
        if self.sizes is not None and self.sizes[dim] is not None:
            return str(self.sizes[dim])
        if self.keys is not None:
            dim = [d for d, key in enumerate(self.keys) if not key.drops][dim]
        elif not self.is_name:
            found = {seen.shape[dim] for seen in self.seen}
            if len(found) == 1 and 1 in found:
                return "1"
        return f"{self.base}.shape[{dim}]"

    @property
    def dtype(self) -> str:
        """The text of an expression for the dtype."""
        return f"{self.source or self.base}.dtype"

    def cropped(self, ranges: Ranges) -> TensorValue:
        """Return the part in given ranges. Raises NoRewriteError if the base is a call or view."""
        wanted = {d: r for d, r in ranges.items() if all(s.shape[d] != 1 for s in self.seen)}
        if not wanted:
            return self
        if self.is_view or not (self.is_name or self.keys is not None):
            raise NoRewriteError(f"a part of {self.text}, under a mask")
        keys = list(self.keys or (Key(),) * self.rank)
        places = [at for at, key in enumerate(keys) if not key.drops]
        for dim, (low, high) in wanted.items():
            key = keys[places[dim]]
            begin = key.begin if key.begin is not None else Amount.of(0)
            keys[places[dim]] = Key(begin + low.times(key.step), high - low, key.step)
        return replace(self, keys=tuple(keys))


def _spaced(key: Key) -> str:
    """Return a slice with spaces around its colon as formatters write them."""
    if key.begin is None or key.size is None:
        return str(key)
    simple = all(part.replace("_", "").replace(".", "").isalnum() for part in str(key).split(" : "))
    return str(key).replace(" : ", ":") if simple else str(key)


Value = Plain | Grid | TensorValue | Index | Mask


def shared(values: Sequence[Seen]) -> Seen | None:
    """Return the observed tensor if all executions used the same tensor; else None."""
    return values[0] if len(set(values)) == 1 else None


__all__ = ["Grid", "Key", "Plain", "Ranges", "TensorValue", "Value", "shared"]
