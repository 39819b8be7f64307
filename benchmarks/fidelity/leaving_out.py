"""Leave-one-source-out: the range of each repository's rows is fitted without these rows.

Only the spreads of predictions (`passes/profile/spread.py`) are fitted to times of kernels. No
constant of the cost model rests on one repository's kernels: constants are documented, read from
charts, measured on single operations, or agree with the kernels of two repositories. The data files
of `dialects/hardware/timings/` name the sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil
from typing import NamedTuple

from benchmarks.fidelity.predicting import Prediction
from benchmarks.fidelity.rows import Published, Row

SHARES = (0.15, 0.3)
"""Relative errors for which the summary counts the predictions."""
DISTINCT = 0.05
"""Minimum relative difference of two times whose order is compared."""
INSIDE = 0.8
"""The share of the published times that a spread contains."""
LEAST = 5
"""The least number of rows from which a spread is fitted; below it, all rows are taken."""

Found = Mapping[str, Prediction]


def left_out_text(published: Published, found: Found) -> list[str]:
    """Return the table of the shares of good predictions, by repository and over all."""
    counted = [row for row in published.rows if not found[row.name].unavailable]
    groups: dict[str, list[Row]] = {}
    for row in counted:
        groups.setdefault(published.sources[row.source].repository, []).append(row)
    lines = [
        "Each source, with ranges that were fitted to the other sources:",
        "",
        "| source | times | within 15% | within 30% | orders | inside the range | refused |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    scores: list[_Score] = []
    for repository, rows in groups.items():
        others = [row for row in counted if row not in rows]
        scores.append(_score(rows, others, found))
        lines.append(_line(repository, scores[-1]))
    whole = _Score(*(sum(values) for values in zip(*scores, strict=True)))
    right, pairs = _orders(counted, found)
    return [*lines, _line("all", whole._replace(right=right, pairs=pairs))]


class _Score(NamedTuple):
    rows: int
    nearer: int
    near: int
    right: int
    pairs: int
    inside: int
    refused: int


def _line(name: str, score: _Score) -> str:
    def share(count: int, of: int) -> str:
        return f"{count} of {of} ({count / of:.0%})" if of else "–"

    counts = (score.nearer, score.near)
    cells = [str(score.rows), *(share(count, score.rows) for count in counts)]
    cells += [share(score.right, score.pairs), share(score.inside, score.rows), str(score.refused)]
    return f"| {' | '.join([name, *cells])} |"


def _score(rows: Sequence[Row], others: Sequence[Row], found: Found) -> _Score:
    predicted = {row.name: us for row in rows if (us := found[row.name].predicted_us) is not None}
    errors = [abs(predicted[r.name] / r.measured_us - 1) for r in rows if r.name in predicted]
    nearer, near = (sum(error <= share for error in errors) for share in SHARES)
    inside = 0
    for row in rows:
        if row.name in predicted:
            made = found[row.name]
            spread = spread_of(made.basis, others, found)[0]
            inside += _deviation(row, made, predicted[row.name]) <= spread
    right, pairs = _orders(rows, found)
    return _Score(len(rows), nearer, near, right, pairs, inside, len(rows) - len(predicted))


def spread_of(basis: str, rows: Sequence[Row], found: Found) -> tuple[float, int]:
    """Return the spread of a basis, and the number of its published times.

    Kernels of a source have similar errors. So the spread is that which contains 80% of the
    times of a source, for 80% of the sources. With too few rows of the basis, all rows count.
    """
    made = [(row, found[row.name]) for row in rows if found[row.name].predicted_us is not None]
    of_basis = [(row, one) for row, one in made if one.basis == basis]
    deviations: dict[str, list[float]] = {}
    for row, one in of_basis if len(of_basis) >= LEAST else made:
        deviations.setdefault(row.source, []).append(_deviation(row, one, one.predicted_us or 0.0))
    spreads = [_most(found) for found in deviations.values()]
    return _most(spreads), len(of_basis)


def _most(numbers: Sequence[float]) -> float:
    """Return the least of the numbers that 80% of them do not exceed; 0 without numbers."""
    return sorted(numbers)[ceil(INSIDE * len(numbers)) - 1] if numbers else 0.0


def _deviation(row: Row, made: Prediction, predicted_us: float) -> float:
    """Return the relative deviation of a published time, beyond that of the launch."""
    time = predicted_us - made.launch_us
    if row.measured_us >= predicted_us:
        return max(0.0, (row.measured_us - made.launch_high_us) / time - 1)
    return max(0.0, 1 - (row.measured_us - made.launch_low_us) / time)


def pairs_of(rows: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    """Yield the pairs of versions of a kernel with distinct published times, the faster first."""
    for versions in dict.fromkeys(row.versions for row in rows if row.versions):
        group = sorted((r for r in rows if r.versions == versions), key=lambda r: r.measured_us)
        for faster, slower in combinations(group, 2):
            if slower.measured_us >= faster.measured_us * (1 + DISTINCT):
                yield faster, slower


def _orders(rows: Sequence[Row], found: Found) -> tuple[int, int]:
    """Return the number of pairs that are predicted in the published order, and of all pairs."""
    right = total = 0
    for pair in pairs_of(rows):
        first, second = (found[row.name].predicted_us for row in pair)
        right += first is not None and second is not None and first < second
        total += 1
    return right, total
