"""Text tables."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence


def aligned(
    rows: Sequence[Sequence[str]], is_number: Callable[[int, str], bool], indent: str = ""
) -> list[str]:
    """Return aligned rows under a headline, without empty columns.

    `is_number` gets a column's index and headline, and returns whether to align it to the right.
    """
    cells: list[list[str]] = []
    for place, column in enumerate(zip(*rows, strict=True)):
        if not any(column[1:]):
            continue
        width = max(map(len, column))
        is_right = is_number(place, column[0])
        cells.append([cell.rjust(width) if is_right else cell.ljust(width) for cell in column])
    return [indent + "  ".join(row).rstrip() for row in zip(*cells, strict=True)]


def tables_as_text(page: str, width: int = 100) -> str:
    """Return a page of Markdown with its tables as aligned columns, for terminals.

    The last column is wrapped so that lines have at most `width` characters.
    """
    return _TABLE.sub(lambda found: _as_text(found[0], width), page)


_TABLE = re.compile(r"^\|.*\n\|[-:| ]+\|(?:\n\|.*)*", re.MULTILINE)
_CELL = re.compile(r"\|((?:`[^`]*`|\\.|[^|`\\])*)")


def _as_text(table: str, width: int) -> str:
    headline, _, *rest = table.split("\n")
    rows = [[cell.strip() for cell in _CELL.findall(line)[:-1]] for line in (headline, *rest)]
    taken = sum(max(map(len, column)) + 2 for column in list(zip(*rows, strict=True))[:-1])
    wrapped: list[list[str]] = []
    for *cells, last in rows:
        lines = textwrap.wrap(last, max(width - taken, 20), break_on_hyphens=False) or [""]
        wrapped.append([*cells, lines[0]])
        wrapped += [[*([""] * len(cells)), line] for line in lines[1:]]
    return "\n".join(aligned(wrapped, lambda _place, _headline: False))
