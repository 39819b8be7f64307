"""A search in which an Optuna sampler chooses each variant, using the results known by then.

A trial is chosen when the results of all but the last few trials before it are known, and results
are reported in the order of the trials. Thus the choices depend on the seed and the number of
concurrent variants, but not on which of them finishes first.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from optuna.trial import FrozenTrial, Trial, TrialState

from nkijit.sweeps.costs import Cost
from nkijit.sweeps.evaluation import Candidate, Evaluation, Question
from nkijit.sweeps.exact import cost_of, data_of
from nkijit.sweeps.pool import Run, Workers
from nkijit.sweeps.results import Objectives, Variant, finished_trials
from nkijit.sweeps.space import Point, SpaceError
from nkijit.sweeps.studies import NkiStudy, SamplerError, quiet
from nkijit.sweeps.worker import Agreement

_RESULT = "nkijit"
"""The trial attribute with its full result."""
_MOST_FINDINGS = 20
"""The maximum number of findings in a trial's attributes, for readers of the study."""


@dataclass(eq=False)
class _Looked:
    """A variant that is or was evaluated."""

    number: int
    point: Point
    candidate: Candidate | None
    """Its form for other processes; None if an earlier run evaluated it."""
    cost: Cost | None = None
    agreement: Agreement | None = None
    is_compared: bool = False
    """Whether its comparison was submitted, or is not needed."""

    def is_known(self, is_run: bool) -> bool:
        """Whether all its results are known."""
        if self.cost is None:
            return False
        return not is_run or self.cost.time is None or self.agreement is not None

    def variant(self) -> Variant:
        assert self.cost is not None, "it is known"
        return Variant(self.number, self.point, self.cost, self.agreement)


class Search:
    """A running study."""

    def __init__(
        self, evaluation: Evaluation, kept: NkiStudy, objectives: Objectives, trials: int | None
    ):
        """Start or resume a study. Raises SamplerError without a number of trials."""
        if trials is None:
            raise SamplerError("how many variants is the sampler to choose? Say trials=100")
        self._evaluation, self._kept, self._objectives = evaluation, kept, objectives
        self.study = kept.study
        self._looked: dict[str, _Looked] = {}
        self._pending: deque[tuple[Trial, _Looked]] = deque()
        self._asked: dict[int, tuple[Question, _Looked]] = {}
        self._reference: _Looked | None = None
        self._all = trials if kept.most is None else min(trials, kept.most)
        self._left = self._all - finished_trials(self.study)
        self._is_exhausted = False
        for trial in self.study.get_trials(deepcopy=False):
            self._take(trial)

    @property
    def variants(self) -> list[Variant]:
        """All evaluated variants, each once."""
        return [looked.variant() for looked in self._looked.values() if looked.cost is not None]

    def _take(self, trial: FrozenTrial) -> None:
        """Take over a result of an earlier run."""
        kept = trial.user_attrs.get(_RESULT)
        if kept is None or self._key(trial.params) in self._looked:
            return
        found: dict[str, Any] = json.loads(kept)
        agreement = found["agreement"]
        point = self._kept.point(trial.params)
        looked = _Looked(trial.number, point, None, cost_of(found["cost"]))
        looked.agreement = None if agreement is None else Agreement(**agreement)
        if self._evaluation.is_run and looked.cost and looked.cost.time and not agreement:
            looked.candidate = self._evaluation.candidate(point)
        else:
            looked.is_compared = True
        self._looked[self._key(trial.params)] = looked

    @staticmethod
    def _key(params: Mapping[str, Any]) -> str:
        return repr(sorted(params.items()))

    def run(self, workers: Workers, tell: Callable[[float], None]) -> None:
        """Evaluate variants until no trials are left."""
        run = Run(workers)
        with quiet():
            while True:
                self._go_on(run, workers)
                tell(1 - self._left / self._all)
                found = run.next()
                if found is None:
                    return
                self._known(run, workers, *found)

    def _go_on(self, run: Run, workers: Workers) -> None:
        """Choose the next variants, and report known results to the sampler.

        A trial is chosen as soon as possible. Results that are known by then are reported after it.
        """
        while True:
            if len(self._pending) < min(workers.at_once, self._left) and not self._is_exhausted:
                self._choose(run, workers)
            elif self._pending and self._pending[0][1].is_known(self._evaluation.is_run):
                self._tell(*self._pending.popleft())
            else:
                return

    def _choose(self, run: Run, workers: Workers) -> None:
        try:
            trial = self.study.ask(self._kept.distributions)
            point = self._kept.point(trial.params)
        except (ValueError, KeyError) as error:  # the study's space was different
            raise SpaceError(
                f"the study '{self.study.study_name}' does not go with this space: {error}"
            ) from None
        key = self._key(trial.params)
        looked = self._looked.get(key)
        if looked is None:
            candidate = self._evaluation.candidate(point)
            looked = self._looked[key] = _Looked(trial.number, point, candidate)
            self._ask(run, workers, looked, Question(candidate))
        self._pending.append((trial, looked))

    def _ask(self, run: Run, workers: Workers, looked: _Looked, question: Question) -> None:
        stored = self._evaluation.stored(question)
        if stored is None:
            number = run.add(*self._evaluation.task(question, workers))
            self._asked[number] = question, looked
        else:
            self._take_answer(run, workers, looked, stored)

    def _known(self, run: Run, workers: Workers, number: int, outcome: Any) -> None:
        question, looked = self._asked.pop(number)
        self._take_answer(run, workers, looked, self._evaluation.answer(question, outcome))

    def _take_answer(
        self, run: Run, workers: Workers, looked: _Looked, answer: Cost | Agreement
    ) -> None:
        if isinstance(answer, Agreement):
            looked.agreement = answer
            return
        looked.cost = answer
        if self._evaluation.is_run:
            self._compare(run, workers)

    def _compare(self, run: Run, workers: Workers) -> None:
        """Submit comparisons with the first valid variant, once it is known."""
        for looked in list(self._looked.values()):
            if looked.cost is None:
                if self._reference is None:
                    return
                continue
            if looked.cost.time is None:
                continue
            if self._reference is None:
                self._reference = looked
            if looked.is_compared:
                continue
            looked.is_compared = True
            reference = self._reference.candidate or self._evaluation.candidate(
                self._reference.point
            )
            assert looked.candidate is not None, "it has not been compared"
            self._ask(run, workers, looked, Question(looked.candidate, reference))

    def _tell(self, trial: Trial, looked: _Looked) -> None:
        """Report a variant to the sampler, with attributes that explain it in the study."""
        variant = looked.variant()
        cost = variant.cost
        trial.set_user_attr(_RESULT, json.dumps(_exact(variant)))
        errors = [str(found) for found in cost.findings if found.severity == "error"]
        if errors:
            trial.set_user_attr("findings", errors[:_MOST_FINDINGS])
        failure = cost.failure or (variant.agreement.failure if variant.agreement else "")
        if failure:
            trial.set_user_attr("failure", failure)
        if variant.agreement is not None:
            trial.set_user_attr("off", variant.agreement.off)
        if cost.time is not None:
            trial.set_user_attr("time", str(cost.time))
            trial.set_user_attr("bound", cost.bound)
        trial.set_constraint("errors", 0.0 if variant.is_valid else float(len(errors) or 1))
        self._left -= 1
        try:
            if variant.is_valid:
                values = [float(measure(cost)) for measure in self._objectives.values()]
                self.study.tell(trial, values)
            else:
                self.study.tell(trial, state=TrialState.PRUNED)
        except RuntimeError as error:
            # Samplers that have tried everything call `Study.stop`, which ends `Study.optimize`.
            if "Study.stop" not in str(error):
                raise
            self._is_exhausted = True


def _exact(variant: Variant) -> dict[str, Any]:
    agreement = None if variant.agreement is None else data_of(variant.agreement)
    return {"cost": data_of(variant.cost), "agreement": agreement}
