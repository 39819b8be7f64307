"""Timing of calls, and ratios of two times."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """Two times that were measured alternately, and their ratio."""

    ours: float
    other: float
    value: float
    """The median of the ratios of all rounds."""
    low: float
    """The first quartile of the ratios."""
    high: float
    """The third quartile of the ratios."""

    @staticmethod
    def of(pairs: Sequence[tuple[float, float]], unit: float = 1.0) -> Ratio:
        """Return the ratio of pairs of times in seconds.

        `ours` and `other` are medians in units of `unit` seconds.
        """
        ratios = sorted(a / b for a, b in pairs)
        last = len(ratios) - 1
        return Ratio(
            statistics.median(a for a, _ in pairs) / unit,
            statistics.median(b for _, b in pairs) / unit,
            statistics.median(ratios),
            ratios[last // 4],
            ratios[last - last // 4],
        )


def seconds(function: Callable[[], object]) -> float:
    """Return the processor time of one call, with garbage collection disabled."""
    gc.collect()
    gc.disable()
    start = time.process_time()
    function()
    elapsed = time.process_time() - start
    gc.enable()
    return elapsed


def in_turn(
    first: Callable[[], object], second: Callable[[], object], rounds: int, unit: float
) -> Ratio:
    """Time both functions alternately, after a call of each to warm up."""
    first()
    second()
    return Ratio.of([(seconds(first), seconds(second)) for _ in range(rounds)], unit)


def call_by_call(first: Callable[[], object], second: Callable[[], object], calls: int) -> Ratio:
    """Time both functions alternately, in µs of wall time, for very short calls.

    `value` is the ratio of the medians here.
    """
    spent: list[tuple[float, float]] = []
    clock = time.perf_counter
    for _ in range(calls):
        start = clock()
        first()
        between = clock()
        second()
        spent.append((between - start, clock() - between))
    ratio = Ratio.of(spent, 1e-6)
    return Ratio(ratio.ours, ratio.other, ratio.ours / ratio.other, ratio.low, ratio.high)
