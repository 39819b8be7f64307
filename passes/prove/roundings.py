"""The places where a kernel rounds values to a float type with fewer digits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from xdsl.ir import Operation

from nkijit.dialects.dtypes import DType, Kind
from nkijit.passes.diagnostics.places import Position, positions
from nkijit.passes.interpret.records.environment import Env
from nkijit.passes.prove.algebra import Algebra, Level
from nkijit.passes.prove.digests import Cells


@dataclass(frozen=True, slots=True)
class Rounding:
    """A line that rounds results."""

    kernel: str
    """`old` or `new`."""
    dtype: str
    place: Position | None

    def __str__(self) -> str:
        at = "an unknown line" if self.place is None else self.place.line_text
        return f"{self.kernel}: {at} rounds to {self.dtype}"


class RoundingWatch(Algebra):
    """An algebra that notes which instructions round; also the observer of the run."""

    def __init__(self, level: Level):
        super().__init__(level)
        self._op: Operation | None = None
        self.found: dict[tuple[str, Position | None], None] = {}

    def before(self, op: Operation, env: Env) -> None:
        """Note the instruction that rounds from here on."""
        self._op = op

    def after(self, op: Operation, env: Env) -> None:
        """Do nothing: the methods of an observer are called before and after operations."""

    def rounded(self, x: Cells, dtype: DType) -> Cells:
        """Return float32 values as a data type stores them."""
        if dtype.kind is Kind.float and dtype.name != "float32":
            chain = [] if self._op is None else positions(self._op.location)
            self.found[dtype.name, chain[0] if chain else None] = None
        return super().rounded(x, dtype)


def changed(old: RoundingWatch, new: RoundingWatch) -> tuple[Rounding, ...]:
    """Return the roundings of one kernel without an equal source line in the other kernel."""
    found: list[Rounding] = []
    for name, one, other in (("old", old, new), ("new", new, old)):
        known = Counter(map(_key, other.found))
        for each in one.found:
            if known[_key(each)] == 0:
                found.append(Rounding(name, *each))
            known[_key(each)] -= 1
    return tuple(found)


def _key(rounding: tuple[str, Position | None]) -> tuple[str, str]:
    dtype, place = rounding
    return dtype, "" if place is None else place.source_line().strip()
