"""Wording of names and choices in messages."""

from __future__ import annotations

from xdsl.ir import SSAValue

from nkijit.dialects.hardware.words import MemoryRegion

_UNNAMED = frozenset(region.value for region in MemoryRegion)
"""The default names of tiles without a variable in the kernel: the names of their memories."""


def variable_of(value: SSAValue | None, otherwise: str) -> str:
    """Return the name of the variable that a tensor was assigned to, or `otherwise`."""
    name = None if value is None else value.name_hint
    return otherwise if name is None or name in _UNNAMED else name


def quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def one_of(values: tuple[str, ...]) -> str:
    """Format words as a choice: `a, b or c`."""
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} or {values[-1]}"
