"""A sweep as a text table."""

from __future__ import annotations

from collections.abc import Sequence

from nkijit.dialects.rule_texts.python import PYTHON_ERROR
from nkijit.dialects.spelling import counted
from nkijit.passes.diagnostics.styled import printable
from nkijit.passes.diagnostics.tables import aligned
from nkijit.passes.profile.units import bytes_text, percent, times_text
from nkijit.sweeps.results import Results, Variant
from nkijit.sweeps.space import point_text, value_text

MOST_ROWS = 40
"""The maximum number of rows in a terminal."""
_LEFT = frozenset({"bound", "results", "why not"})


def text_of(sweep: Results) -> str:
    """Return the summary and the table of the best variants, without a closing newline."""
    rows = table_of(sweep, sweep.results[:MOST_ROWS])
    lines = [*summary_of(sweep), "", *aligned(rows, lambda _, name: name not in _LEFT, "  ")]
    more = len(sweep.results) - MOST_ROWS
    return "\n".join([*lines, *([f"  … {more:,} more"] if more > 0 else [])])


def summary_of(sweep: Results) -> list[str]:
    """Return lines of text: the numbers of variants by result, and the best variant."""
    count, valid = len(sweep.variants), sum(v.is_valid for v in sweep.variants)
    trials = "" if sweep.trials is None else f"{counted(sweep.trials, 'trial')} of "
    lines = [f"sweep of @{sweep.kernel}: {trials}{counted(count, 'variant')}, {valid:,} valid"]
    best = sweep.best
    if best is None:
        return lines
    assert best.cost.time is not None, "a valid variant has a time"
    lines.append(f"  best {sweep.objectives[0]}: {point_text(best.point)}: {best.cost.time}")
    first = sweep.first_valid
    if first is not None and first is not best and first.cost.time is not None:
        times = times_text(first.cost.time.ns, best.cost.time.ns)
        lines.append(f"  first valid: {point_text(first.point)}: {times}")
    if len(sweep.objectives) > 1:
        beaten = f"in {', '.join(sweep.objectives)} (with *)"
        lines.append(f"  not beaten {beaten}: {len(sweep.pareto):,} of {valid:,}")
    return lines


def table_of(sweep: Results, variants: Sequence[Variant]) -> list[tuple[str, ...]]:
    """Return a header, and a row for each variant."""
    names = list(sweep.variants[0].point) if sweep.variants else []
    head = (*names, "time", "bound", "SBUF", "PSUM", "MFU", "results", "why not")
    rows = [_row(sweep, variant) for variant in variants]
    if len(sweep.objectives) == 1:
        return [head, *rows]
    front = set(map(id, sweep.pareto))
    marks = ["*" if id(variant) in front else "" for variant in variants]
    return [("", *head), *((mark, *row) for mark, row in zip(marks, rows, strict=True))]


def _row(sweep: Results, variant: Variant) -> tuple[str, ...]:
    cost = variant.cost
    reason = why_not(sweep, variant)
    values = [printable(value_text(value)) for value in variant.point.values()]
    if cost.time is None or cost.sbuf is None or cost.psum is None:
        return (*values, "", "", "", "", "", "", reason)
    figures = (
        str(cost.time),
        cost.bound or "",
        bytes_text(cost.sbuf.bytes),
        bytes_text(cost.psum.bytes),
        percent(cost.mfu or 0.0),
    )
    return (*values, *figures, _results(variant), reason)


def _results(variant: Variant) -> str:
    agreement = variant.agreement
    if agreement is None or agreement.off is None:
        return ""
    return "the same" if agreement.off == 0 else f"off by {agreement.off:.1e}"


def why_not(sweep: Results, variant: Variant) -> str:
    """Return the reason why a variant cannot be the best, in a few words; "" if it can."""
    cost, agreement = variant.cost, variant.agreement
    if cost.time is None:
        rules = dict.fromkeys(
            printable(f"{f.subject}: {f.message}") if f.rule == PYTHON_ERROR.id else f.rule
            for f in cost.findings
            if f.severity == "error"
        )
        return ", ".join(rules) or _last_line(cost.failure)
    if agreement is None or agreement.agrees:
        return ", ".join(sorted(sweep.doubts(variant)))
    return _last_line(agreement.failure) or "computes something else"


def _last_line(text: str) -> str:
    """Return the last line, which has an exception's message."""
    return printable(text.strip().rpartition("\n")[2].strip())
