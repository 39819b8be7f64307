"""States of the search: versions of a kernel with their predicted times and the steps to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from xdsl.dialects.builtin import LocationAttr

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.advise.proposal import Proposal
from nkijit.passes.diagnostics.places import Position, positions
from nkijit.passes.profile.extremes import times_at_ends
from nkijit.passes.profile.timeline import Timeline
from nkijit.passes.prove.algebra import Level


@dataclass(frozen=True, slots=True)
class Move:
    """The key of a change: it finds the same change in other versions of the kernel."""

    kind: str
    """The id of the kind of advice."""
    subject: str
    """The source lines and names that the change is about."""
    variant: int
    """The number of the alternative."""

    @property
    def line(self) -> str:
        """The first source line of the subject, without the depth of loops."""
        return self.subject.partition(", ")[0]

    @staticmethod
    def of(proposal: Proposal) -> Move:
        """Return the key of a proposal."""
        return Move(proposal.kind.id, _text(proposal.subject), proposal.variant)


def _text(subject: Hashable) -> str:
    """Return a subject as text that is equal in all processes."""
    if isinstance(subject, LocationAttr):
        return " < ".join(place.in_one_word for place in positions(subject))
    if isinstance(subject, tuple):
        return ", ".join(map(_text, cast("tuple[Hashable, ...]", subject)))
    return str(subject)


class State:
    """A version of the kernel."""

    def __init__(
        self,
        kernels: Sequence[KernelOp],
        timeline: Timeline,
        proposal: Proposal | None = None,
    ):
        self.kernels = kernels
        self.timeline = timeline
        self.proposal = proposal
        """The change that leads to this version; None for the original kernel."""
        self.level: Level | None = None
        """The level of equivalence with the original kernel, if it is known."""

    @property
    def time(self) -> float:
        """The predicted time, in ns."""
        return self.timeline.total

    @cached_property
    def ends(self) -> list[float]:
        """The times with the fastest and the slowest timing constants, in ns."""
        return times_at_ends(self.timeline)

    @cached_property
    def figures(self) -> Hashable:
        """Figures that are equal for versions with the same instructions in the same order."""
        names = Counter(op.name for kernel in self.kernels for op in kernel.operations)
        return round(self.time, 3), frozenset(names.items())

    def is_faster_than(self, other: State, threshold: float) -> bool:
        """Whether this version is faster by a fraction, and not slower at either end."""
        return self.time < other.time * (1 - threshold) and all(
            mine <= its for mine, its in zip(self.ends, other.ends, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Step:
    """A change that was applied. Times are of the whole kernel, in ns."""

    move: Move
    place: Position | None
    """The source line of the changed instructions."""
    message: str
    """The change, in one line."""
    reasons: tuple[str, ...]
    before: float
    after: float
    low: float
    """The smallest gain in ns within the uncertainty of the timing constants."""
    high: float
    """The largest gain in ns."""
    level: Level
    """The level at which the kernel after this step is equivalent to the original."""

    @property
    def gain(self) -> float:
        """The fraction of the time that is saved."""
        return (self.before - self.after) / self.before

    @staticmethod
    def between(before: State, after: State) -> Step:
        """Return the step between a version and the next one, whose level is known."""
        assert after.proposal is not None
        assert after.level is not None
        gains = [one - other for one, other in zip(before.ends, after.ends, strict=True)]
        gains.append(before.time - after.time)
        return Step(
            move=Move.of(after.proposal),
            place=after.proposal.place(),
            message=after.proposal.message,
            reasons=after.proposal.reasons,
            before=before.time,
            after=after.time,
            low=min(gains),
            high=max(gains),
            level=after.level,
        )
