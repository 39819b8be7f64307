"""Wording of names and choices in messages."""

from __future__ import annotations


def quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def one_of(values: tuple[str, ...]) -> str:
    """Format words as a choice: `a, b or c`."""
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} or {values[-1]}"
