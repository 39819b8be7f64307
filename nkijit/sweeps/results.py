"""What a sweep found: its variants, and which of them is the best."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nkijit.costs import Cost
from nkijit.sweeps.space import Point, value_text
from nkijit.sweeps.worker import Agreement

Measure = Callable[[Cost], float]
"""What is to be as small as possible."""


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
"""What a sweep can look for: the least predicted time, the least of the slow end of its range, the
least memory, the fewest instructions, the highest MFU."""


def measure_of(objective: str | Measure) -> Measure:
    """What is to be as small as possible. Raises ValueError for an unknown objective."""
    if not isinstance(objective, str):
        return objective
    if objective not in OBJECTIVES:
        known = ", ".join(OBJECTIVES)
        raise ValueError(f"there is no objective '{objective}'; there are {known}")
    return OBJECTIVES[objective]


@dataclass(frozen=True)
class Variant:
    """A point of the space, and what came of it."""

    number: int
    """Its place in the grid, from 0."""
    point: Point
    """The values of the swept arguments."""
    cost: Cost
    """What it costs; without a time it has findings, or a failure."""
    agreement: Agreement | None = None
    """How its results compare, where variants were run."""

    @property
    def is_valid(self) -> bool:
        """Whether it can be used: it has a time, and computes what the others do."""
        return self.cost.time is not None and (self.agreement is None or self.agreement.agrees)

    def as_dict(self) -> dict[str, Any]:
        """All of it as values of JSON."""
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


class Results:
    """The variants of a kernel in their order."""

    def __init__(self, kernel: str, objective: str | Measure, variants: Iterable[Variant]):
        self.kernel = kernel
        self.objective = objective if isinstance(objective, str) else value_text(objective)
        self._measure = measure_of(objective)
        self.variants = tuple(sorted(variants, key=lambda variant: variant.number))
        """All variants in the order of the grid."""

    @cached_property
    def results(self) -> tuple[Variant, ...]:
        """All variants: the best first, those that cannot be used last, in the order of the grid.

        Variants that are equally good are in the order of their times, then of the grid.
        """
        valid = [variant for variant in self.variants if variant.is_valid]
        time = OBJECTIVES["time"]
        valid.sort(key=lambda variant: (self._measure(variant.cost), time(variant.cost)))
        return (*valid, *(variant for variant in self.variants if not variant.is_valid))

    @property
    def best(self) -> Variant | None:
        """The best variant; None when none can be used."""
        first = self.results[0]
        return first if first.is_valid else None

    @cached_property
    def pareto(self) -> tuple[Variant, ...]:
        """The variants that no other one beats in both time and SBUF, the fastest first."""
        chosen: list[Variant] = []
        valid = [variant for variant in self.variants if variant.is_valid]
        keys = [OBJECTIVES["time"], OBJECTIVES["sbuf"]]
        least = math.inf
        for variant in sorted(valid, key=lambda variant: [key(variant.cost) for key in keys]):
            size = OBJECTIVES["sbuf"](variant.cost)
            if size < least:
                chosen.append(variant)
                least = size
        return tuple(chosen)

    def as_dict(self) -> dict[str, Any]:
        """All of it as values of JSON, the variants in the order of `results`."""
        return {
            "kernel": self.kernel,
            "objective": self.objective,
            "variants": [variant.as_dict() for variant in self.results],
        }

    def to_json(self) -> str:
        """`as_dict` as JSON text."""
        return json.dumps(self.as_dict(), indent=2) + "\n"
