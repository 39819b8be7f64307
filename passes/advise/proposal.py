"""What an experiment is: a change to a copy of a kernel, and what is said when it gains time."""

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
    """What it is about; cores make the change about the same together."""
    variant: int
    """Of alternatives about the same, which one this is: the first is told that gains time."""
    location: LocationAttr
    """The author's line."""
    message: str
    """What to do, in one line."""
    reasons: tuple[str, ...]
    about: Sequence[Operation]
    """The instructions that become fewer, or faster: they bound what it can gain."""
    change: Callable[[Edit], None]
    """Changes a copy; raises NotPossibleError where it cannot."""

    def place(self) -> Position | None:
        """The author's place, innermost call."""
        return place_of(self.location)


Line = tuple[LocationAttr, str | None]
"""A line of the author's with the tensor that it moves: helper functions move several."""


def place_of(location: LocationAttr) -> Position | None:
    """The innermost of the author's places."""
    places = positions(location)
    return places[0] if places else None


def name_of(names: Iterable[str | None]) -> str:
    """What the author calls some tiles."""
    known = dict.fromkeys(name for name in names if name)
    return f"%{next(iter(known))}" if len(known) == 1 else "tiles"


def counted(count: int, what: str) -> str:
    """A number of things."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")
