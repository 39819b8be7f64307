"""Times of calls, and ratios of two of them."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """What something takes, beside something else that was measured in turn with it."""

    ours: float
    other: float
    value: float
    """The median of the ratios of all rounds."""
    low: float
    """The first quartile of them."""
    high: float
    """The third one."""

    @staticmethod
    def of(pairs: Sequence[tuple[float, float]], unit: float = 1.0) -> Ratio:
        """The ratio of pairs of times in seconds; `ours` and `other` are in units of `unit`."""
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
    """Time of the processor for one call, garbage collection kept out of it."""
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
    """Both, measured pair by pair."""
    first()
    second()
    return Ratio.of([(seconds(first), seconds(second)) for _ in range(rounds)], unit)


def call_by_call(first: Callable[[], object], second: Callable[[], object], calls: int) -> Ratio:
    """As `in_turn` in µs, for calls so short that most are not interrupted."""
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
