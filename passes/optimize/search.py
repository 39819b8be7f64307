"""The search for a faster version of a kernel.

A *descent* tries all changes of a version and applies those that gain, the largest gain first, until
none gains. The search continues with versions that gained nothing by themselves, or less than another
change: the fastest first.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.advise.edit import NotPossibleError
from nkijit.passes.advise.kinds import Numbers
from nkijit.passes.advise.trials import (
    Change,
    Conditions,
    changed,
    spilled,
    suspicious,
    worthwhile,
)
from nkijit.passes.lower.program import LoweringError
from nkijit.passes.optimize.evidence import Evidence, Level, evidence
from nkijit.passes.optimize.state import Move, State, Step
from nkijit.passes.profile.simulate import SimulationError
from nkijit.passes.verify.passes import find_all

SMALLEST = 0.003
"""The smallest gain of a step, as a fraction of the kernel's time."""
SLOWER = 1.1
"""The search continues with versions that are at most this much slower than their original."""
MOST_TRIED = 48
"""The largest number of changes of a version that are tried."""
MOST_OPEN = 12
"""The largest number of versions that are retained to continue with."""

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a search."""

    allowed: Level = Level.bits
    seconds: float = 60.0
    """The time after which no further change is tried."""
    moves: int = 1_000_000
    """The largest number of changes that are tried."""


class OutOfBudgetError(Exception):
    """Raised at the end of the time of a search."""


class Search:
    """The search for faster versions of one kernel."""

    def __init__(
        self,
        kernels: Sequence[KernelOp],
        conditions: Conditions,
        limits: Limits,
        progress: Progress | None = None,
    ):
        """Predict the time of the original kernel.

        Raises:
            LoweringError: the kernel cannot be lowered.
            SimulationError: the kernel cannot be simulated.
        """
        self._conditions = conditions
        self._limits = limits
        self._progress = progress
        self._started = time.monotonic()
        self.original = State(kernels, conditions.run(kernels, conditions.schedule))
        self.best = self.original
        self.steps: tuple[Step, ...] = ()
        self.tried = 0
        self.refuted = 0
        """The number of faster versions without evidence that their results are equal."""
        self.is_complete = False
        """Whether all versions were tried before the end of the time."""
        self._known = {self.original.figures}
        self._open: list[tuple[float, int, State, tuple[Step, ...]]] = []
        self._numbers = itertools.count()
        self._suspicious = suspicious(find_all(kernels, advise=False))

    @property
    def seconds(self) -> float:
        """The time since the start of the search, in seconds."""
        return time.monotonic() - self._started

    def run(self) -> None:
        """Search until nothing is left to try, or the time is over."""
        try:
            self._continue_with(self.best, self.steps)
            while self._open:
                _, _, state, steps = heapq.heappop(self._open)
                self._continue_with(state, steps)
            self.is_complete = True
        except OutOfBudgetError:
            pass

    def apply(self, moves: Sequence[Move]) -> None:
        """Apply known changes to the original kernel, as far as each one gains.

        The result is the best version; a change that the kernel does not allow ends the sequence.
        """
        for move in moves:
            state = self._again(self.best, move)
            step = None if state is None else self._step(self.best, state)
            if state is None or step is None:
                return
            self.best, self.steps = state, (*self.steps, step)

    def _continue_with(self, state: State, steps: tuple[Step, ...]) -> None:
        """Apply changes that gain, until none does."""
        while True:
            trials = sorted(self._trials(state), key=lambda trial: trial.time)
            before, made = state, steps
            for trial in trials:
                if trial.time >= before.time * SLOWER:
                    break
                move = trial.moves[-1]
                new = trial if state is before else self._again(state, move)
                if new is None or not new.is_faster_than(state, SMALLEST):
                    self._put(trial, made)
                    continue
                step = self._step(state, new)
                if step is None:
                    continue
                if state is not before:
                    self._put(trial, made)
                state, steps = new, (*steps, step)
                if state.is_faster_than(self.best, 0.0):
                    self.best, self.steps = state, steps
            if state is before:
                return

    def _put(self, state: State, steps: tuple[Step, ...]) -> None:
        """Retain a version to continue with later. `steps` lead to the version before it."""
        if state.figures in self._known:
            return
        self._known.add(state.figures)
        heapq.heappush(self._open, (state.time, next(self._numbers), state, steps))
        if len(self._open) > MOST_OPEN:
            self._open = heapq.nsmallest(MOST_OPEN, self._open)
            heapq.heapify(self._open)

    def _trials(self, state: State) -> Iterator[State]:
        for alternatives in worthwhile(state.kernels, state.timeline, SMALLEST)[:MOST_TRIED]:
            for change in alternatives:
                trial = self._try(state, change)
                if trial is not None:
                    yield trial

    def _again(self, state: State, move: Move) -> State | None:
        """Apply a change that was found in another version; None if it is not possible."""
        for alternatives in worthwhile(state.kernels, state.timeline, 0.0):
            for change in alternatives:
                if Move.of(_proposal(change)) == move:
                    return self._try(state, change)
        return None

    def _try(self, state: State, change: Sequence[object]) -> State | None:
        self._check_budget()
        own: Change = list(change)  # type: ignore[arg-type]
        proposal = _proposal(own)
        if proposal.kind.numbers in (Numbers.change, Numbers.estimate):
            return None
        if proposal.kind.numbers is Numbers.rounding and not self._limits.allowed:
            return None
        self.tried += 1
        try:
            copies = changed(own, state.kernels)
            timeline = self._conditions.run(copies, self._conditions.schedule)
        except (NotPossibleError, LoweringError, SimulationError):
            return None
        if spilled(timeline) > spilled(self.original.timeline):
            return None  # SBUF has no free space for it
        return State(copies, timeline, (*state.moves, Move.of(proposal)), proposal)

    def _step(self, before: State, after: State) -> Step | None:
        """Return the step between two versions; None if the new version is not sound."""
        found = self._evidence(after)
        if found.level is None:
            self.refuted += 1
            return None
        proposal = after.proposal
        assert proposal is not None
        gains = [one - other for one, other in zip(before.ends, after.ends, strict=True)]
        gains.append(before.time - after.time)
        return Step(
            move=after.moves[-1],
            place=proposal.place(),
            message=proposal.message,
            reasons=proposal.reasons,
            before=before.time,
            after=after.time,
            low=min(gains),
            high=max(gains),
            level=found.level,
        )

    def _evidence(self, state: State) -> Evidence:
        """Return the evidence that a version is valid and computes the original's results."""
        found = find_all(state.kernels, advise=False)
        errors = [d for d in found if d.severity == "error"]
        if errors:
            return Evidence(None, errors[0].message)
        if not suspicious(found) <= self._suspicious:
            return Evidence(None, "the changed kernel has warnings")
        return evidence(self.original.kernels, state.kernels, self._limits.allowed)

    def _check_budget(self) -> None:
        if self._progress is not None:
            self._progress(min(1.0, self.seconds / self._limits.seconds))
        if self.seconds >= self._limits.seconds or self.tried >= self._limits.moves:
            raise OutOfBudgetError


def _proposal(change: Change):
    return next(p for p in change if p is not None)
