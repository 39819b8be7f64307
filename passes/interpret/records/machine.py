"""Deterministic runs of several cores and ranks.

Each core runs until it must wait for other cores: at a barrier, an exchange or a collective (a
*meeting*). A meeting is settled when all its members have arrived; if no meeting can be settled,
the run is deadlocked. `run/races.py` finds races in the memory that the cores of a rank share.

Cores that run native code may run in threads between meetings, without checks for races. The order
of their accesses is then neither determined nor observable.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Operation

from nkijit.passes.diagnostics.places import positions
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.numerics.storage import untrapped


@dataclass(frozen=True, slots=True)
class Core:
    """A core of a rank."""

    rank: int
    core: int

    def __str__(self) -> str:
        return f"rank {self.rank}, core {self.core}"


FIRST_CORE = Core(0, 0)
"""The core of a run on a single core."""

Settle = Callable[[Mapping[Core, "Meeting"]], None]


@dataclass(slots=True)
class Meeting:
    """A synchronisation with other cores (barrier, exchange, collective) at which a core waits."""

    op: Operation
    key: tuple[Any, ...]
    """The key of the meeting: cores that wait with equal keys wait for each other."""
    members: frozenset[Core]
    settle: Settle
    """Completes the synchronisation. Called once, with the `Meeting` of each member."""
    offer: Any = None
    """The data that the core contributes to the meeting."""

    @property
    def place(self) -> str:
        """A text with the name of the waiting instruction and its line in the kernel."""
        return place_of(self.op)


def place_of(op: Operation) -> str:
    """Return a text with the name of an instruction and its line in the kernel."""
    places = positions(op.location)
    return f"{op.name} at {places[0]}" if places else op.name


Runner = Generator[Meeting, None, None]


@dataclass(slots=True)
class Team:
    """The cores of a run, each with the `Meeting` at which the core waits."""

    runners: dict[Core, Runner]
    threaded: bool = False
    """True to run cores in threads between synchronisations, if there are several CPUs."""
    waiting: dict[Core, Meeting] = field(default_factory=dict[Core, Meeting])
    cores: frozenset[Core] = field(init=False)

    def __post_init__(self) -> None:
        self.cores = frozenset(self.runners)

    def run(self) -> None:
        """Run all cores to their end. Raises InterpretationError for a deadlock."""
        ready = list(self.runners)
        while ready:
            for core, meeting in zip(ready, self._advance(ready), strict=True):
                if meeting is None:
                    del self.runners[core]
                else:
                    self._check_members(core, meeting)
                    self.waiting[core] = meeting
            ready = self._settle()
            if not ready and self.waiting:
                raise self._deadlock()

    def _advance(self, ready: Sequence[Core]) -> Iterator[Meeting | None]:
        """Run each core up to its next `Meeting`, and yield this; None at the core's end."""
        runners = [self.runners[core] for core in ready]
        if not self.threaded or len(runners) == 1:
            return (next(runner, None) for runner in runners)
        # Errors are raised in the order of the cores, not of time.
        return _THREADS.map(_next, runners)

    def _check_members(self, core: Core, meeting: Meeting) -> None:
        absent = sorted(meeting.members - self.cores, key=_order)
        if absent:
            raise InterpretationError(
                f"{meeting.place} meets {', '.join(map(str, absent))}, which this run does not "
                "have; nkijit.run_ranks runs a kernel on several ranks"
            )
        if core not in meeting.members:
            raise InterpretationError(f"{meeting.place} runs on {core}, which is in no group of it")

    def _settle(self) -> list[Core]:
        """Settle each `Meeting` with all members present; returns the cores that can continue."""
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
            awaited = " and ".join(
                f"{m}, which {'waits elsewhere' if m in self.waiting else 'has ended'}"
                for m in missing
            )
            lines.append(f"  {core} waits in {meeting.place} for {awaited}")
        return InterpretationError("\n".join(["the cores wait for each other for ever:", *lines]))

    def _met(self, member: Core, meeting: Meeting) -> bool:
        return member in self.waiting and self.waiting[member].key == meeting.key


def _order(core: Core) -> tuple[int, int]:
    return core.rank, core.core


class _Threads:
    """A thread pool with one thread per CPU, created when first used."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None

    def map(
        self, function: Callable[[Runner], Meeting | None], runners: Sequence[Runner]
    ) -> Iterator[Meeting | None]:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="nkijit-core")
        is_over = threading.Event()
        locks = [threading.Lock() for _ in runners]

        def guarded(runner: Runner, lock: threading.Lock) -> Meeting | None:
            with lock:
                return None if is_over.is_set() else function(runner)

        try:
            futures = [
                self._pool.submit(guarded, *each) for each in zip(runners, locks, strict=True)
            ]
            wait(futures)
        except BaseException:
            # The caller restores the arrays that cores write, so no core may run any more.
            is_over.set()
            for lock in locks:
                lock.acquire()
            raise
        return (each.result() for each in futures)

    def reset(self) -> None:
        """Forget the thread pool, as a forked child has none of its threads."""
        self._pool = None


def _next(runner: Runner) -> Meeting | None:
    return untrapped(next, runner, None)


_THREADS = _Threads()
if sys.platform != "win32":
    os.register_at_fork(after_in_child=_THREADS.reset)


def run_together(runners: Sequence[tuple[Core, Runner]], *, threaded: bool = False) -> None:
    """Run the cores of all ranks to their end; `threaded`: in threads between synchronisations."""
    Team(dict(runners), threaded and (os.cpu_count() or 1) > 1).run()
