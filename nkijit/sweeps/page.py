"""A sweep as HTML: a table, and a plot of time against SBUF. No scripts, no other files."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from nkijit.passes.diagnostics.picture import COLOURS
from nkijit.passes.diagnostics.shown import html_of_text
from nkijit.passes.profile.units import bytes_text, time_text
from nkijit.sweeps.results import OBJECTIVES, Results, Variant
from nkijit.sweeps.space import point_text
from nkijit.sweeps.text import summary_of, table_of

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 760, 390, 90, 34, 30, 76
_MOST_TICKS = 6
# The text colour around it, as a notebook's theme can differ from the system's.
_INK, _GRID, _DOT, _FRONT = "currentColor", "#88888855", COLOURS[0], "#DC4A55"
_STYLE = """
:root { color-scheme: light dark; --ink: #222; --ground: #fff; --line: #d8d8d8; --quiet: #6b6b6b }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e8ee; --ground: #0f1318; --line: #2c343d; --quiet: #a6b1bd }
}
body { font: 14px/1.4 Helvetica, Arial, sans-serif; margin: clamp(.6em, 3vw, 2em) }
body { color: var(--ink); background: var(--ground) }
table { border-collapse: collapse }
th, td { padding: .2em .8em; text-align: right; white-space: nowrap }
th { border-bottom: 2px solid var(--ink) } td { border-bottom: 1px solid var(--line) }
td:last-child, th:last-child { text-align: left } tr.best { font-weight: bold }
tr.invalid { color: var(--quiet) }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
pre { margin: 1em 0; white-space: pre-wrap !important; overflow-wrap: anywhere }
svg { max-width: 100%; height: auto }
@media (max-width: 40rem) {
  svg { font-size: 22px } circle { r: 9px }
  table, tbody, tr, td { display: block } tr:first-child { display: none }
  tr { border-bottom: 1px solid var(--line); padding: .4em 0 }
  td { display: inline-block; border: 0; padding: 0 1em 0 0; text-align: left }
  td { white-space: normal; overflow-wrap: anywhere } td:empty { display: none }
  td::before { content: attr(data-name) " "; color: var(--quiet); font-weight: normal }
}
"""


def page_of(sweep: Results) -> str:
    """Return the whole page."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
        f'<link rel="icon" href="data:,">\n<title>sweep of {escape(sweep.kernel)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n{fragment_of(sweep)}</body>\n</html>\n"
    )


def fragment_of(sweep: Results) -> str:
    """Return summary, plot and table, without a page around them."""
    summary = "\n".join(summary_of(sweep))
    plot = plot_of(sweep)
    legend = _legend() if plot else ""
    return f"{html_of_text(summary)}\n{legend}{plot}{_table(sweep)}"


def _table(sweep: Results) -> str:
    head, *rows = table_of(sweep, sweep.results)
    if rows:  # without the columns that have only a headline
        columns = [column for column in zip(head, *rows, strict=True) if any(column[1:])]
        head, *rows = zip(*columns, strict=True)
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    shown = ['<div style="overflow-x:auto">', "<table>", f"<tr>{names}</tr>"]
    for variant, row in zip(sweep.results, rows, strict=True):
        kind = "best" if variant is sweep.best else "" if variant.is_valid else "invalid"
        title = escape("\n".join([*map(str, variant.cost.findings), variant.cost.failure]).strip())
        named = zip(head, row, strict=True)
        cells = "".join(
            f'<td data-name="{escape(name)}">{escape(cell)}</td>' for name, cell in named
        )
        shown.append(f'<tr class="{kind}" title="{title}">{cells}</tr>')
    return "\n".join([*shown, "</table>", "</div>\n"])


def plot_of(sweep: Results) -> str:
    """Return an SVG plot of time against SBUF for valid variants. A line joins the Pareto front."""
    valid = [variant for variant in sweep.variants if variant.is_valid]
    if not valid:
        return ""
    plot = _Plot(valid)
    parts = [*plot.axes()]
    places = [plot.place(variant) for variant in sweep.pareto]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts.append(f'<polyline points="{line}" fill="none" stroke="{_FRONT}" stroke-width="1.5"/>')
    front = set(map(id, sweep.pareto))
    # Variants of the front are drawn last, above others with the same time and size.
    for variant in sorted(valid, key=lambda each: id(each) in front):
        x, y = plot.place(variant)
        colour = _FRONT if id(variant) in front else _DOT
        title = escape(f"{point_text(variant.point)}: {variant.cost.time}, {_sbuf_text(variant)}")
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}" stroke="{_INK}" '
            f'stroke-width="0.6"><title>{title}</title></circle>'
        )
    body = "\n".join(parts)
    return (
        '<div style="overflow-x:auto">'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="time against SBUF" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="11" fill="{_INK}">\n'
        f"{body}\n</svg></div>\n"
    )


def _sbuf_text(variant: Variant) -> str:
    return f"{bytes_text(OBJECTIVES['sbuf'](variant.cost))} of SBUF"


class _Plot:
    """Maps values to pixels; both axes begin at 0."""

    def __init__(self, variants: Sequence[Variant]):
        self._time = max(OBJECTIVES["time"](variant.cost) for variant in variants) * 1.05 or 1.0
        self._sbuf = max(OBJECTIVES["sbuf"](variant.cost) for variant in variants) * 1.05 or 1.0

    def place(self, variant: Variant) -> tuple[float, float]:
        """Return the pixel of a variant."""
        return self._x(OBJECTIVES["sbuf"](variant.cost)), self._y(OBJECTIVES["time"](variant.cost))

    def _x(self, size: float) -> float:
        return _LEFT + size / self._sbuf * (_WIDTH - _LEFT - _RIGHT)

    def _y(self, time: float) -> float:
        return _HEIGHT - _BOTTOM - time / self._time * (_HEIGHT - _TOP - _BOTTOM)

    def axes(self) -> list[str]:
        """Return the grid, numbers and titles of both axes."""
        right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
        parts: list[str] = []
        for size in ticks(self._sbuf, 2.0):
            x = self._x(size)
            parts += [
                f'<path d="M{x:.1f} {_TOP}V{bottom}" stroke="{_GRID}"/>',
                f'<text x="{x:.1f}" y="{bottom}" dy="1.7em" text-anchor="middle">'
                f"{bytes_text(size)}</text>",
            ]
        for time in ticks(self._time, 10.0):
            y = self._y(time)
            parts += [
                f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="{_GRID}"/>',
                f'<text x="{_LEFT - 6}" y="{y:.1f}" dy=".35em" text-anchor="end">'
                f"{time_text(time)}</text>",
            ]
        words = "SBUF at the peak, per partition"
        middle = (_LEFT + right) / 2
        return [
            *parts,
            f'<text x="{middle}" y="{_HEIGHT - 10}" text-anchor="middle">{words}</text>',
            f'<text x="{_LEFT}" y="22" text-anchor="middle">time</text>',
        ]


def _legend() -> str:
    """Return the legend: the colours of variants."""
    words = ((_FRONT, "no variant is better in both"), (_DOT, "other valid variants"))
    marks = (
        f'<span style="display:inline-block;margin-right:1.5em"><span style="display:inline-block;'
        f"width:.7em;height:.7em;border-radius:50%;border:1px solid;background:{colour}"
        f'"></span> {text}</span>'
        for colour, text in words
    )
    return f"<div>{''.join(marks)}</div>\n"


def ticks(end: float, base: float) -> list[float]:
    """Return round numbers from 0 to `end`, at most `_MOST_TICKS` steps apart.

    Args:
        end: the end of the axis.
        base: 10 for steps of 1, 2 or 5 times a power of ten, 2 for powers of two.
    """
    factors = (1.0, 2.0, 5.0) if base == 10.0 else (1.0,)
    power = 1.0
    while True:
        for factor in factors:
            step = power * factor
            if end / step <= _MOST_TICKS:
                return [step * number for number in range(int(end / step) + 1)]
        power *= base
