"""The search for a faster version of a kernel.

A *descent* tries all changes of a version and applies those that gain, the largest gain first,
until none gains. If one of the first changes saves 30% of the time, the others are tried after it
is applied. The search continues with versions that gained nothing by themselves, or less than
another change: the fastest first. A large kernel is searched in a sample first.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.advise.edit import NotPossibleError
from nkijit.passes.advise.experiments import proposals_for
from nkijit.passes.advise.kinds import Numbers
from nkijit.passes.advise.proposal import Proposal
from nkijit.passes.advise.trials import (
    Change,
    Conditions,
    changed,
    spilled,
    suspicious,
    worthwhile,
)
from nkijit.passes.compile.passes.remove_unused import remove_unused
from nkijit.passes.lower.program import LoweringError
from nkijit.passes.optimize.compiled_form import COMPILED_FORM, compiled_forms
from nkijit.passes.optimize.sample import sample_of
from nkijit.passes.optimize.split import SPLIT_CORES, splits
from nkijit.passes.optimize.state import Move, State, Step
from nkijit.passes.profile.simulate import Progress, SimulationError
from nkijit.passes.prove.algebra import Level
from nkijit.passes.prove.proof import Proof, Side, compared
from nkijit.passes.verify.passes import find_all

SMALLEST = 0.003
"""The smallest gain of a step, as a fraction of the kernel's time."""
SLOWER = 1.1
"""The search continues with versions that are at most this much slower than the version before."""
LARGE = 0.3
"""A gain that is applied before all changes are tried, as a fraction of the kernel's time."""
FIRST = 6
"""The smallest number of changes that are tried before a large gain is applied."""
MOST_TRIED = 48
"""The largest number of changes of a version that are tried."""
MOST_OPEN = 12
"""The largest number of versions that are retained to continue with."""
SAMPLED = 0.4
"""The part of the budget for the search in a sample of a large kernel."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a search."""

    allowed: Level = Level.bits
    """The level of equivalence with the original kernel that every version must have."""
    seconds: float = 60.0
    """The time after which no further change is tried."""
    experiments: int | None = None
    """The largest number of changes that are tried; None for no limit."""
    two_cores: bool = False
    """Whether a kernel for one core may become a kernel for a launch on two cores."""


class OutOfBudgetError(Exception):
    """The time of a search is over."""


_Versions = tuple[State, ...]
"""The original kernel, and the version after each step."""


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
        self.versions: _Versions = (self.original,)
        """The original kernel, and the version after each step to the best one."""
        self.tried = 0
        self.refuted: list[tuple[Proposal, Proof]] = []
        """The faster versions that are not proven to be equivalent, by their last change."""
        self.is_complete = False
        """Whether all versions were tried before the end of the time."""
        self._refused = set[Move]()
        """The changes that are not tried again, because the result of one was not proven."""
        self._known = {self.original.figures}
        self._open: list[tuple[float, int, _Versions]] = []
        self._numbers = itertools.count()
        found = find_all(kernels, advise=False)
        self._suspicious = suspicious(found)
        self._errors = {d.rule.id for d in found if d.severity == "error"}
        """The rules that the original breaks: a sample does not write all of its results."""
        self._old = Side("old", kernels)

    @property
    def best(self) -> State:
        """The fastest version that was found."""
        return self.versions[-1]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps to the best version."""
        return tuple(itertools.starmap(Step.between, itertools.pairwise(self.versions)))

    @property
    def seconds(self) -> float:
        """The time since the start of the search, in seconds."""
        return time.monotonic() - self._started

    def run(self) -> None:
        """Search until nothing is left to try, or the time is over."""
        try:
            self._split()
            self._explore_sample()
            self._descend(self.versions)
            while self._open:
                versions = heapq.heappop(self._open)[-1]
                if self._is_sound(versions[-1]):
                    self._descend(versions)
            self.is_complete = True
        except OutOfBudgetError:
            pass

    def _split(self) -> None:
        """Divide a kernel for one core between two cores, if that is allowed and gains."""
        if len(self.versions) > 1 or not self._limits.two_cores:
            return
        trials = [self._on_two_cores(*way) for way in splits(self.original.kernels)]
        found = sorted((each for each in trials if each is not None), key=lambda one: one.time)
        for state in found:
            if state.is_faster_than(self.original, SMALLEST) and self._is_sound(state):
                self._keep((self.original, state))
                return

    def _on_two_cores(self, proposal: Proposal, kernels: Sequence[KernelOp]) -> State | None:
        self.tried += 1
        try:
            timeline = self._conditions.run(kernels, self._conditions.schedule)
        except (LoweringError, SimulationError):
            return None
        return State(kernels, timeline, proposal)

    def _explore_sample(self) -> None:
        """Search in a sample of a large kernel, and repeat the steps in the kernel."""
        is_new = len(self.versions) == 1 or self.steps[-1].move.kind == SPLIT_CORES.id
        sample = sample_of(self.best.kernels) if is_new else None
        if sample is None:
            return
        most = self._limits.experiments
        limits = replace(
            self._limits,
            seconds=(self._limits.seconds - self.seconds) * SAMPLED,
            experiments=None if most is None else int(most * SAMPLED),
            two_cores=False,
        )
        begun = self.seconds / max(self._limits.seconds, 1e-9)

        def progress(part: float) -> None:
            if self._progress is not None:
                self._progress(min(1.0, begun + part * SAMPLED))

        try:
            search = Search(sample, self._conditions, limits, progress)
        except (LoweringError, SimulationError):
            return
        search.run()
        self.tried += search.tried
        versions = self.versions
        for step in search.steps:
            self._check_budget()
            end = versions[-1]
            found = self._similar(end, step.move)
            if found is None or found.time > end.time * (1 + SMALLEST):
                continue
            if self._is_sound(found):
                versions = (*versions, found)
                self._keep(versions)

    def _similar(self, state: State, move: Move) -> State | None:
        """Apply a change that was found in a sample, where fewer loops may be around it."""
        found: list[tuple[bool, Change]] = []
        for alternatives in _changes(state, 0.0, move.kind):
            for change in alternatives:
                own = Move.of(_first(change))
                if own.variant == move.variant and own.line == move.line:
                    found.append((own != move, change))
        found.sort(key=lambda item: item[0])
        tried = (self._try(state, change) for _, change in found)
        return next((trial for trial in tried if trial is not None), None)

    def apply(self, moves: Sequence[Move]) -> None:
        """Apply known changes to the original kernel, as far as it allows them."""
        versions = self.versions
        for move in moves:
            state = self._again(versions[-1], move)
            if state is None or not self._is_sound(state):
                return
            versions = (*versions, state)
            self._keep(versions)

    def _keep(self, versions: _Versions) -> None:
        """Make a version the best one if it is faster than the best one."""
        if versions[-1].is_faster_than(self.best, 0.0):
            self.versions = versions

    def _descend(self, versions: _Versions) -> None:
        """Apply changes that gain, until none does."""
        self._keep(versions)
        while True:
            start = versions
            for trial in self._sorted_trials(start):
                if trial.time >= start[-1].time * SLOWER:
                    break
                self._check_budget()
                end = versions[-1]
                state = trial if versions is start else self._again(end, Move.of(_last(trial)))
                gains = state is not None and state.is_faster_than(end, SMALLEST)
                if versions is not start or not gains:
                    self._put((*start, trial))
                if state is not None and gains and self._is_sound(state):
                    versions = (*versions, state)
                    self._keep(versions)
            if versions is start:
                return

    def _sorted_trials(self, versions: _Versions) -> list[State]:
        """Try the changes of a version, and return the results, the fastest first.

        At the end of the budget, the best one is applied.
        """
        found: list[State] = []
        try:
            for trial in self._trials(versions[-1]):
                found.append(trial)  # noqa: PERF402  (those before an exception count)
        except OutOfBudgetError:
            for trial in sorted(found, key=lambda trial: trial.time):
                if trial.is_faster_than(versions[-1], SMALLEST) and self._is_sound(trial):
                    self._keep((*versions, trial))
                    break
            raise
        return sorted(found, key=lambda trial: trial.time)

    def _put(self, versions: _Versions) -> None:
        """Retain a version to continue with later."""
        state = versions[-1]
        if state.figures in self._known:
            return
        self._known.add(state.figures)
        heapq.heappush(self._open, (state.time, next(self._numbers), versions))
        if len(self._open) > MOST_OPEN:
            self._open = heapq.nsmallest(MOST_OPEN, self._open)

    def _trials(self, state: State) -> Iterator[State]:
        is_large = False
        for number, alternatives in enumerate(_changes(state, SMALLEST)[:MOST_TRIED], 1):
            for change in alternatives:
                self._check_budget()
                trial = self._try(state, change)
                if trial is not None:
                    yield trial
                    is_large |= trial.is_faster_than(state, LARGE)
            if is_large and number >= FIRST:
                return

    def _again(self, state: State, move: Move) -> State | None:
        """Apply a change that was found in another version; None if it is not possible."""
        if move.kind == SPLIT_CORES.id:
            ways = (way for way in splits(state.kernels) if Move.of(way[0]) == move)
            return next((self._on_two_cores(*way) for way in ways), None)
        for alternatives in _changes(state, 0.0, move.kind):
            for change in alternatives:
                if Move.of(_first(change)) == move:
                    return self._try(state, change)
        return None

    def _try(self, state: State, change: Change) -> State | None:
        proposal = _first(change)
        if proposal.kind.numbers in (Numbers.change, Numbers.estimate):
            return None
        if Move.of(proposal) in self._refused:
            return None
        self.tried += 1
        try:
            copies = changed(change, state.kernels)
            for copy in copies:
                remove_unused(copy)
            timeline = self._conditions.run(copies, self._conditions.schedule)
        except (NotPossibleError, LoweringError, SimulationError):
            return None
        if spilled(timeline) > spilled(self.original.timeline):
            return None  # SBUF has no free space for it
        return State(copies, timeline, proposal)

    def _is_sound(self, state: State) -> bool:
        """Whether a version is valid, and equivalent to the original at the allowed level."""
        if state.level is None:
            found = find_all(state.kernels, advise=False)
            valid = {d.rule.id for d in found if d.severity == "error"} <= self._errors
            if valid and suspicious(found) <= self._suspicious:
                proof = compared(self._old, Side("new", state.kernels), self._limits.allowed)
                state.level = proof.level
                if proof.level is None:
                    self.refuted.append((_last(state), proof))
                    self._refused.add(Move.of(_last(state)))
        return state.level is not None

    def _check_budget(self) -> None:
        if self._progress is not None:
            self._progress(min(1.0, self.seconds / max(self._limits.seconds, 1e-9)))
        most = self._limits.experiments
        if self.seconds >= self._limits.seconds or (most is not None and self.tried >= most):
            raise OutOfBudgetError


def _changes(state: State, threshold: float, kind: str | None = None) -> list[list[Change]]:
    """Return the changes of a version to try, of all kinds or one, each with its alternatives."""
    proposals = partial(_proposals, kind=kind)
    return worthwhile(state.kernels, state.timeline, threshold, proposals)


def _proposals(kernel: KernelOp, kind: str | None) -> Iterator[Proposal]:
    yield from proposals_for(kernel, kind)
    if kind in (None, COMPILED_FORM.id):
        yield from compiled_forms(kernel)


def _first(change: Change) -> Proposal:
    """Return a proposal of a change; those of all cores have the same key."""
    return next(proposal for proposal in change if proposal is not None)


def _last(state: State) -> Proposal:
    """Return the change that leads to a version."""
    assert state.proposal is not None
    return state.proposal
