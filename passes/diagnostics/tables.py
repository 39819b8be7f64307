"""Text tables."""

from __future__ import annotations

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
