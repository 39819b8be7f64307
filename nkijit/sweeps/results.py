"""The results of a sweep: the variants, and their order by objective."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import le
from typing import TYPE_CHECKING, Any

from nkijit.passes.diagnostics.fields import ShownFields
from nkijit.sweeps.costs import Cost
from nkijit.sweeps.space import Point, value_text
from nkijit.sweeps.worker import Agreement

if TYPE_CHECKING:
    from optuna import Study

Measure = Callable[[Cost], float]
"""An objective: a function of a cost, whose value is minimised."""


def _peak(name: str) -> Measure:
    return lambda cost: getattr(cost, name).bytes


OBJECTIVES: Mapping[str, Measure] = {
    "time": lambda cost: cost.time.ns if cost.time else math.inf,
    "high": lambda cost: cost.time.high if cost.time else math.inf,
    "sbuf": _peak("sbuf"),
    "psum": _peak("psum"),
    "instructions": lambda cost: cost.instructions or 0,
    "mfu": lambda cost: -(cost.mfu or 0.0),
}
"""The objectives by name. All are minimised except "mfu"; "high" is the slow end of the range."""


Objectives = Mapping[str, Measure]
"""The objectives of a sweep, by name. The first objective determines the best variant."""


def measures_of(objective: str | Measure | Sequence[str | Measure]) -> Objectives:
    """Return the objectives by name. Raises ValueError for unknown names."""
    several = [objective] if isinstance(objective, str) or callable(objective) else objective
    found: dict[str, Measure] = {}
    for each in several:
        name = each if isinstance(each, str) else value_text(each)
        if isinstance(each, str) and each not in OBJECTIVES:
            known = ", ".join(OBJECTIVES)
            raise ValueError(f"there is no objective '{each}'; there are {known}")
        if name in found:
            raise ValueError(f"the objective '{name}' is given twice")
        found[name] = OBJECTIVES[each] if isinstance(each, str) else each
    if not found:
        raise ValueError(f"there is no objective; there are {', '.join(OBJECTIVES)}")
    return found


@dataclass(frozen=True, repr=False)
class Variant(ShownFields):
    """A point of the space, with its results."""

    number: int
    """The variant's index in the grid, from 0; with a sampler, the number of its trial."""
    point: Point
    """The values of the swept arguments."""
    cost: Cost
    """The predicted cost; a cost without a time has findings or a failure."""
    agreement: Agreement | None = None
    """The comparison with the first valid variant's results, if the variants were run."""

    @property
    def is_valid(self) -> bool:
        """Whether the variant has a time, and agrees with the first valid variant's results."""
        return self.cost.time is not None and (self.agreement is None or self.agreement.agrees)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        agreement = self.agreement
        return {
            "number": self.number,
            "point": {name: _plain(value) for name, value in self.point.items()},
            "valid": self.is_valid,
            "cost": self.cost.as_dict(),
            "agreement": agreement
            and {"off": agreement.off, "agrees": agreement.agrees, "failure": agreement.failure},
        }


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, type(None))) else value_text(value)


def finished_trials(study: Study) -> int:
    """Return the number of finished trials in a study."""
    return sum(trial.state.name in ("COMPLETE", "PRUNED") for trial in study.get_trials(False))


class Results:
    """The variants of a kernel and their order."""

    def __init__(
        self,
        kernel: str,
        objectives: Objectives,
        variants: Iterable[Variant],
        study: Study | None = None,
    ):
        self.kernel = kernel
        self.objectives = tuple(objectives)
        """The names of the objectives."""
        self._measures = tuple(objectives.values())
        self.variants = tuple(sorted(variants, key=lambda variant: variant.number))
        """All variants, in the order of the grid or of the sampler's choices."""
        self.study = study
        """The Optuna study of a sampler; None for a grid."""
        self.trials = None if study is None else finished_trials(study)
        """The number of a sampler's choices, including repeated ones; None for a grid."""

    @cached_property
    def results(self) -> tuple[Variant, ...]:
        """All variants: the best first, doubtful and invalid ones last in the order of `variants`.

        Ties are ordered by time, then as in `variants`. See `doubts`.
        """
        ranked = [variant for variant in self.variants if self._is_ranked(variant)]
        first, time = self._measures[0], OBJECTIVES["time"]
        ranked.sort(key=lambda variant: (first(variant.cost), time(variant.cost)))
        return (*ranked, *(variant for variant in self.variants if not self._is_ranked(variant)))

    def doubts(self, variant: Variant) -> frozenset[str]:
        """Return the rules of suspicious findings that the first valid variant does not have.

        A variant with such findings probably computes something else: it is never the best.
        """
        first = self.first_valid
        if first is None or not variant.is_valid:
            return frozenset()
        return variant.cost.suspicious - first.cost.suspicious

    @cached_property
    def first_valid(self) -> Variant | None:
        """The first valid variant, with which the other variants are compared."""
        return next((variant for variant in self.variants if variant.is_valid), None)

    def _is_ranked(self, variant: Variant) -> bool:
        return variant.is_valid and not self.doubts(variant)

    @property
    def best(self) -> Variant | None:
        """The best variant; None if none is valid."""
        first = next(iter(self.results), None)
        return first if first is not None and self._is_ranked(first) else None

    @cached_property
    def pareto(self) -> tuple[Variant, ...]:
        """The variants that no other variant beats in all objectives, ordered by the first one.

        With a single objective, the Pareto front is that of time and SBUF, the fastest first.
        """
        several = len(self._measures) > 1
        measures = self._measures if several else (OBJECTIVES["time"], OBJECTIVES["sbuf"])
        chosen: list[tuple[list[float], Variant]] = []
        ranked = [variant for variant in self.variants if self._is_ranked(variant)]
        figures = [([measure(v.cost) for measure in measures], v) for v in ranked]
        for mine, variant in sorted(figures, key=lambda pair: pair[0]):
            if not any(all(map(le, others, mine)) for others, _ in chosen):
                chosen.append((mine, variant))
        return tuple(variant for _, variant in chosen)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values, with variants in the order of `results`."""
        return {
            "kernel": self.kernel,
            "objectives": list(self.objectives),
            "trials": self.trials,
            "variants": [variant.as_dict() for variant in self.results],
        }

    def to_json(self) -> str:
        """Return `as_dict` as JSON text."""
        return json.dumps(self.as_dict(), indent=2) + "\n"
