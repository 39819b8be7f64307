"""A proposed change: a function that edits a copy of the kernel, and the text of the advice."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation

from nkijit.passes.advise.edit import Edit
from nkijit.passes.advise.kinds import Kind
from nkijit.passes.diagnostics.places import Position, positions


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """A change that may gain time."""

    kind: Kind
    subject: Hashable
    """The key of the change; proposals of several cores with equal keys are applied together."""
    variant: int
    """The number of this proposal among the alternatives for a subject.

    The first alternative with a gain is reported.
    """
    location: LocationAttr
    """The source location of the changed instructions."""
    message: str
    """The recommended change, in one line."""
    reasons: tuple[str, ...]
    about: Sequence[Operation]
    """The instructions that are removed or get faster; their total time bounds the gain."""
    change: Callable[[Edit], None]
    """Edits a copy of the kernel; raises NotPossibleError if the kernel prevents the change."""

    def place(self) -> Position | None:
        """The source position of the innermost call."""
        return place_of(self.location)


Line = tuple[LocationAttr, str | None]
"""A source line and a tile's name: a line of a helper can access several tensors."""


def place_of(location: LocationAttr) -> Position | None:
    """Return the innermost source position."""
    places = positions(location)
    return places[0] if places else None


def name_of(names: Iterable[str | None]) -> str:
    """Return the name that tiles have in common; "tiles" if they have different names."""
    known = dict.fromkeys(name for name in names if name)
    return f"%{next(iter(known))}" if len(known) == 1 else "tiles"
