"""Several cores and ranks that run together, one at a time and always in the same order.

Each runs until it meets others: at a barrier, an exchange, a collective. A meeting is settled
when all its members have come; when none can be, the run has come to a deadlock. Memory that
two cores of a rank share is watched: bytes that both use, at least one of them writing, without
a barrier between, are a race.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Operation

from nkijit.passes.diagnostics.places import positions
from nkijit.passes.interpret.errors import InterpretationError


@dataclass(frozen=True, slots=True)
class Core:
    """A core of a rank."""

    rank: int
    core: int

    def __str__(self) -> str:
        return f"rank {self.rank}, core {self.core}"


FIRST_CORE = Core(0, 0)
"""The core that runs where there is only one."""

Settle = Callable[[Mapping[Core, "Meeting"]], None]


@dataclass(slots=True)
class Meeting:
    """A core that waits for others."""

    op: Operation
    key: tuple[Any, ...]
    """Equal for all that meet."""
    members: frozenset[Core]
    settle: Settle
    """Called once, of one member, with everybody."""
    offer: Any = None
    """What the core brings."""

    @property
    def place(self) -> str:
        """The instruction with its line in the kernel."""
        return place_of(self.op)


def place_of(op: Operation) -> str:
    """An instruction with its line in the kernel."""
    places = positions(op.location)
    return f"{op.name} at {places[0]}" if places else op.name


Runner = Generator[Meeting, None, None]


@dataclass(slots=True)
class Team:
    """The cores of a run and where each of them is."""

    runners: dict[Core, Runner]
    waiting: dict[Core, Meeting] = field(default_factory=dict[Core, Meeting])
    everyone: frozenset[Core] = field(init=False)

    def __post_init__(self) -> None:
        self.everyone = frozenset(self.runners)

    def run(self) -> None:
        """Run all to their end. Raises InterpretationError for a deadlock."""
        ready = list(self.runners)
        while ready:
            for core in ready:
                meeting = next(self.runners[core], None)
                if meeting is None:
                    del self.runners[core]
                else:
                    self._check_members(core, meeting)
                    self.waiting[core] = meeting
            ready = self._settle()
            if not ready and self.waiting:
                raise self._deadlock()

    def _check_members(self, core: Core, meeting: Meeting) -> None:
        strangers = sorted(meeting.members - self.everyone, key=_order)
        if strangers:
            raise InterpretationError(
                f"{meeting.place} meets {', '.join(map(str, strangers))}, which this run does not "
                "have; nkijit.run_ranks runs a kernel on several ranks"
            )
        if core not in meeting.members:
            raise InterpretationError(f"{meeting.place} runs on {core}, which is in no group of it")

    def _settle(self) -> list[Core]:
        """Settle what can be; returns the cores that may go on."""
        ready: list[Core] = []
        for core in sorted(self.waiting, key=_order):
            meeting = self.waiting.get(core)
            if meeting is None:
                continue
            here = {
                member: self.waiting[member]
                for member in sorted(meeting.members, key=_order)
                if member in self.waiting and self.waiting[member].key == meeting.key
            }
            if len(here) < len(meeting.members):
                continue
            meeting.settle(here)
            for member in here:
                del self.waiting[member]
                ready.append(member)
        return sorted(ready, key=_order)

    def _deadlock(self) -> InterpretationError:
        lines: list[str] = []
        for core, meeting in sorted(self.waiting.items(), key=lambda item: _order(item[0])):
            missing = [m for m in sorted(meeting.members, key=_order) if not self._met(m, meeting)]
            whom = " and ".join(
                f"{m}, which {'waits elsewhere' if m in self.waiting else 'has ended'}"
                for m in missing
            )
            lines.append(f"  {core} waits in {meeting.place} for {whom}")
        return InterpretationError("\n".join(["the cores wait for each other for ever:", *lines]))

    def _met(self, member: Core, meeting: Meeting) -> bool:
        return member in self.waiting and self.waiting[member].key == meeting.key


def _order(core: Core) -> tuple[int, int]:
    return core.rank, core.core


def run_together(runners: Sequence[tuple[Core, Runner]]) -> None:
    """Run the cores of all ranks to their end."""
    Team(dict(runners)).run()
