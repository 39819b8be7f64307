"""Semantics of batch normalisation statistics."""

from __future__ import annotations

import numpy as np

from nkijit.dialects.nisa.statistics import TRIPLE, BnAggrOp, BnStatsOp
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Array
from nkijit.passes.interpret.records.records import Computed, Reach
from nkijit.passes.interpret.semantics.nisa.described import constructor
from nkijit.passes.interpret.semantics.registry import semantics


@semantics(BnStatsOp)
def bn_stats(b: Binding) -> Computed:
    term = constructor(b, Reach.rows)
    return Computed(_statistics, (b.read("data"),), b.into(), early=1, constructor=term)


@semantics(BnAggrOp)
def bn_aggr(b: Binding) -> Computed:
    term = constructor(b, Reach.rows)
    return Computed(_aggregate, (b.read("data"),), b.into(), early=1, constructor=term)


def _statistics(x: Array, out: Array) -> None:
    even, odd = _moments(x[:, ::2]), _moments(x[:, 1::2])
    for column, value in enumerate((*even, *odd)):
        out[:, column] = value


def _moments(x: Array) -> tuple[int, Array | float, Array | float]:
    """Return count, mean and variance * count. Without elements (not documented), all are 0."""
    count = x.shape[1]
    if count == 0:
        return 0, 0.0, 0.0
    mean = np.add.reduce(x, axis=1) / np.float32(count)
    deviation = x - mean[:, None]
    np.square(deviation, deviation)
    return count, mean, np.add.reduce(deviation, axis=1)


def _aggregate(x: Array, out: Array) -> None:
    count, mean, spread = (x[:, part::TRIPLE] for part in range(TRIPLE))
    total = np.add.reduce(count, axis=1)
    mean_of_all = np.add.reduce(count * mean, axis=1) / total
    deviation = mean - mean_of_all[:, None]
    spread_of_all = np.add.reduce(spread + count * np.square(deviation), axis=1)
    out[:, 0] = mean_of_all
    out[:, 1] = spread_of_all / total
