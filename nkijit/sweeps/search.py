"""A search in which an Optuna sampler chooses each variant from the results of earlier ones.

Results are reported to the sampler in the order of the trials. A trial is chosen when the results
of all earlier trials, except for the last few, have been reported. Thus the choices depend on the
seed and the number of concurrent variants, but not on the order in which variants finish.
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
"""The name of the trial attribute with the trial's full result."""
_MOST_FINDINGS = 20
"""The maximum number of findings in a trial's attributes, for readers of the study."""


@dataclass(eq=False)
class _Evaluated:
    """A variant whose evaluation has begun, with the results known so far."""

    number: int
    point: Point
    candidate: Candidate | None
    """The variant in its serialised form; None if an earlier run evaluated it."""
    cost: Cost | None = None
    agreement: Agreement | None = None
    is_compared: bool = False
    """Whether the comparison of results was submitted, or is unnecessary."""

    def is_complete(self, is_run: bool) -> bool:
        """Whether all results of the variant are known; `is_run` requires a comparison, too."""
        if self.cost is None:
            return False
        return not is_run or self.cost.time is None or self.agreement is not None

    def variant(self) -> Variant:
        assert self.cost is not None, "it is known"
        return Variant(self.number, self.point, self.cost, self.agreement)


class Search:
    """A running study."""

    def __init__(
        self,
        evaluation: Evaluation,
        nki_study: NkiStudy,
        objectives: Objectives,
        trials: int | None,
    ):
        """Start or resume a study. Raises SamplerError without a number of trials."""
        if trials is None:
            raise SamplerError("how many variants is the sampler to choose? Say trials=100")
        self._evaluation, self._nki_study, self._objectives = evaluation, nki_study, objectives
        self.study = nki_study.study
        self._evaluated: dict[str, _Evaluated] = {}
        self._pending: deque[tuple[Trial, _Evaluated]] = deque()
        self._queries: dict[int, tuple[Question, _Evaluated]] = {}
        self._reference: _Evaluated | None = None
        self._all = trials if nki_study.most is None else min(trials, nki_study.most)
        self._left = self._all - finished_trials(self.study)
        self._is_exhausted = False
        for trial in self.study.get_trials(deepcopy=False):
            self._take(trial)

    @property
    def variants(self) -> list[Variant]:
        """All evaluated variants, each once."""
        return [
            evaluated.variant()
            for evaluated in self._evaluated.values()
            if evaluated.cost is not None
        ]

    def _take(self, trial: FrozenTrial) -> None:
        """Restore the stored result of an earlier run's trial."""
        stored = trial.user_attrs.get(_RESULT)
        if stored is None or self._key(trial.params) in self._evaluated:
            return
        found: dict[str, Any] = json.loads(stored)
        agreement = found["agreement"]
        point = self._nki_study.point(trial.params)
        evaluated = _Evaluated(trial.number, point, None, cost_of(found["cost"]))
        evaluated.agreement = None if agreement is None else Agreement(**agreement)
        if self._evaluation.is_run and evaluated.cost and evaluated.cost.time and not agreement:
            evaluated.candidate = self._evaluation.candidate(point)
        else:
            evaluated.is_compared = True
        self._evaluated[self._key(trial.params)] = evaluated

    @staticmethod
    def _key(params: Mapping[str, Any]) -> str:
        return repr(sorted(params.items()))

    def run(self, workers: Workers, report: Callable[[float], None]) -> None:
        """Evaluate variants until no trials are left."""
        run = Run(workers)
        with quiet():
            while True:
                self._go_on(run, workers)
                report(1 - self._left / self._all)
                found = run.next()
                if found is None:
                    return
                self._take_outcome(run, workers, *found)

    def _go_on(self, run: Run, workers: Workers) -> None:
        """Choose the next variants, and report known results to the sampler.

        While fewer trials are pending than may run at a time, the next one is chosen. Otherwise the
        result of the oldest pending trial is reported, if it is known.
        """
        while True:
            if len(self._pending) < min(workers.at_once, self._left) and not self._is_exhausted:
                self._choose(run, workers)
            elif self._pending and self._pending[0][1].is_complete(self._evaluation.is_run):
                self._report(*self._pending.popleft())
            else:
                return

    def _choose(self, run: Run, workers: Workers) -> None:
        try:
            trial = self.study.ask(self._nki_study.distributions)
            point = self._nki_study.point(trial.params)
        except (ValueError, KeyError) as error:  # the study's space was different
            raise SpaceError(
                f"the study '{self.study.study_name}' does not go with this space: {error}"
            ) from None
        key = self._key(trial.params)
        evaluated = self._evaluated.get(key)
        if evaluated is None:
            candidate = self._evaluation.candidate(point)
            evaluated = self._evaluated[key] = _Evaluated(trial.number, point, candidate)
            self._submit(run, workers, evaluated, Question(candidate))
        self._pending.append((trial, evaluated))

    def _submit(
        self, run: Run, workers: Workers, evaluated: _Evaluated, question: Question
    ) -> None:
        stored = self._evaluation.stored(question)
        if stored is None:
            number = run.add(*self._evaluation.task(question, workers))
            self._queries[number] = question, evaluated
        else:
            self._take_answer(run, workers, evaluated, stored)

    def _take_outcome(self, run: Run, workers: Workers, number: int, outcome: Any) -> None:
        question, evaluated = self._queries.pop(number)
        self._take_answer(run, workers, evaluated, self._evaluation.answer(question, outcome))

    def _take_answer(
        self, run: Run, workers: Workers, evaluated: _Evaluated, answer: Cost | Agreement
    ) -> None:
        if isinstance(answer, Agreement):
            evaluated.agreement = answer
            return
        evaluated.cost = answer
        if self._evaluation.is_run:
            self._compare(run, workers)

    def _compare(self, run: Run, workers: Workers) -> None:
        """Submit comparisons with the first valid variant, once it is known."""
        for evaluated in list(self._evaluated.values()):
            if evaluated.cost is None:
                if self._reference is None:
                    return
                continue
            if evaluated.cost.time is None:
                continue
            if self._reference is None:
                self._reference = evaluated
            if evaluated.is_compared:
                continue
            evaluated.is_compared = True
            reference = self._reference.candidate or self._evaluation.candidate(
                self._reference.point
            )
            assert evaluated.candidate is not None, "it has not been compared"
            self._submit(run, workers, evaluated, Question(evaluated.candidate, reference))

    def _report(self, trial: Trial, evaluated: _Evaluated) -> None:
        """Report a variant to the sampler, with attributes that explain it in the study."""
        variant = evaluated.variant()
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
