"""Notebooks as MyST text: their cells."""

from __future__ import annotations

import re
from pathlib import Path

_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n((?::[^\n]*\n)*\n?)(.*?)^```$", re.M | re.S)


def cells_of(path: Path) -> list[tuple[str, bool]]:
    """The code of each cell, and whether it is to fail."""
    found = _CELL.findall(path.read_text(encoding="utf-8"))
    return [(code.rstrip("\n"), "raises-exception" in options) for options, code in found]
