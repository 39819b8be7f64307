"""The table of predicted and published times, with a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.fidelity.leaving_out import SHARES, left_out_text, pairs_of, spread_of
from benchmarks.fidelity.predicting import Prediction
from benchmarks.fidelity.rows import Published, Row

RESOURCES = ("tensor", "vector", "scalar", "gpsimd", "dma")
"""The resources with published busy times."""
BEGIN, END = "<!-- fidelity: written by make fidelity -->", "<!-- end of fidelity -->"


def table_text(published: Published, found: Mapping[str, Prediction]) -> str:
    """Return the figures of leave-one-source-out, the table, and its summary, in Markdown."""
    lines = [
        *left_out_text(published, found),
        "",
        "Predictions, with ranges that were fitted to all sources:",
        "",
        "| source | kernel | target | published µs | as written | compiled | ratio |",
        "|---|---|---|--:|--:|--:|--:|",
    ]
    for row in published.rows:
        repository = published.sources[row.source].repository
        cells = _cells(row, found[row.name])
        lines.append(" | ".join([f"| {repository}", row.name, row.target, *cells]) + " |")
    counters = counters_text(published.rows, found)
    return "\n".join([*lines, *counters, "", *_sums(published.rows, found)]) + "\n"


def counters_text(rows: Sequence[Row], found: Mapping[str, Prediction]) -> list[str]:
    """Return the table of predicted and published counters, for the rows that have some."""
    counted = [row for row in rows if row.busy_us or row.hbm_bytes]
    if not counted:
        return []
    lines = [
        "",
        "Busy times in µs and bytes of HBM: predicted / published.",
        "",
        f"| kernel | {' | '.join(RESOURCES)} | MB |",
        f"|---|{'--:|' * (len(RESOURCES) + 1)}",
    ]
    for row in counted:
        prediction = found[row.name]
        cells = [_pair(prediction.busy_us.get(r), row.busy_us.get(r)) for r in RESOURCES]
        moved = _pair(prediction.hbm_bytes / 1e6, row.hbm_bytes / 1e6 or None)
        lines.append(f"| {' | '.join([row.name, *cells, moved])} |")
    return lines


def _pair(predicted: float | None, published: float | None) -> str:
    return f"{_us(predicted or 0)} / {'–' if published is None else _us(published)}"


def _cells(row: Row, prediction: Prediction) -> list[str]:
    measured = f"{row.measured_us:,.4g}" if row.measured_us < 1000 else f"{row.measured_us:,.0f}"
    if prediction.predicted_us is None:
        missing = (
            f"not available: {prediction.unavailable}"
            if prediction.unavailable
            else prediction.refused
        )
        return [measured, missing if prediction.unavailable else f"refused: {missing}", "", ""]
    low, high = (_us(us) for us in (prediction.low_us, prediction.high_us))
    ratio = prediction.predicted_us / row.measured_us
    compiled = f"{_us(prediction.predicted_us)} ({low}–{high})"
    author = _us(prediction.author_us) if prediction.author_us else "does not fit"
    return [measured, author, compiled, f"{ratio:.2f}"]


def _us(us: float) -> str:
    return f"{us:,.0f}" if us >= 100 else f"{us:.1f}"


def _sums(rows: Sequence[Row], found: Mapping[str, Prediction]) -> list[str]:
    counted = [row for row in rows if not found[row.name].unavailable]
    ratios = {r.name: us / r.measured_us for r in counted if (us := found[r.name].predicted_us)}
    lines: list[str] = []
    for share in SHARES:
        near = sum(abs(ratio - 1) <= share for ratio in ratios.values())
        part = near / len(counted) if counted else 0.0
        lines.append(f"- within {share:.0%}: {near} of {len(counted)} ({part:.0%})")
    inside = sum(
        found[r.name].low_us <= r.measured_us <= found[r.name].high_us
        for r in counted
        if r.name in ratios
    )
    lines.append(f"- inside of the predicted range: {inside} of {len(counted)}")
    for basis in dict.fromkeys(found[r.name].basis for r in counted if r.name in ratios):
        spread, count = spread_of(basis, counted, found)
        lines.append(f"- spread of {basis} kernels: {spread:.0%} ({count} times)")
    refused = len(counted) - len(ratios)
    lines.append(f"- refused: {refused} of {len(counted)}, which count as neither")
    groups = dict.fromkeys(row.versions for row in counted if row.versions)
    return lines + [_order(v, [r for r in counted if r.versions == v], found) for v in groups]


def _order(versions: str, rows: Sequence[Row], found: Mapping[str, Prediction]) -> str:
    """Return a line with the number of pairs of versions that are in the published order."""
    pairs = list(pairs_of(rows))
    if not pairs:
        return f"- order of {versions}: the times are too close to have one"
    right = refused = 0
    for faster, slower in pairs:
        first, second = (found[row.name].predicted_us for row in (faster, slower))
        if first is None or second is None:
            refused += 1
        else:
            right += first < second
    whole = "reproduced" if right == len(pairs) else "not reproduced"
    without = f", {refused} with a version that is refused" if refused else ""
    return f"- order of {versions}: {whole}, {right} of {len(pairs)} pairs{without}"


def write_into(page: Path, text: str) -> None:
    """Put the table between the two markers of a page.

    Raises ValueError when the page does not contain each of them exactly once.
    """
    old = page.read_text(encoding="utf-8")
    if old.count(BEGIN) != 1 or old.count(END) != 1:
        raise ValueError(f"{page} does not have '{BEGIN}' and '{END}' once each")
    head, rest = old.split(BEGIN)
    _, tail = rest.split(END)
    page.write_text(f"{head}{BEGIN}\n\n{text}\n{END}{tail}", encoding="utf-8")
