"""Tables of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def aligned(
    rows: Sequence[Sequence[str]], is_number: Callable[[int, str], bool], indent: str = ""
) -> list[str]:
    """Rows under a headline, without columns that are empty.

    `is_number`, of the place of a column and its headline: whether it is aligned to the right.
    """
    cells: list[list[str]] = []
    for place, column in enumerate(zip(*rows, strict=True)):
        if not any(column[1:]):
            continue
        width = max(map(len, column))
        is_right = is_number(place, column[0])
        cells.append([cell.rjust(width) if is_right else cell.ljust(width) for cell in column])
    return [indent + "  ".join(row).rstrip() for row in zip(*cells, strict=True)]
