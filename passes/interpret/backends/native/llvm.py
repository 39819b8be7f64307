"""LLVM, as llvmlite brings it, which has no type annotations."""

from __future__ import annotations

from importlib import import_module
from typing import Any

binding: Any = import_module("llvmlite.binding")


def building() -> Any:
    """What builds IR, `llvmlite.ir`; needed only where something is compiled."""
    return import_module("llvmlite.ir")
