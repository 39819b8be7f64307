"""The modules of the folders that are no part of nkijit: `tools`."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from support.paths import ROOT


def tool(name: str) -> Any:
    """A module of `tools`."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    return importlib.import_module(f"tools.{name}")
