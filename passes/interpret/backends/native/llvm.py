"""LLVM through llvmlite, which has no type annotations."""

from __future__ import annotations

from importlib import import_module
from typing import Any

binding: Any = import_module("llvmlite.binding")


def building() -> Any:
    """Return the IR builder `llvmlite.ir`, which is needed only for compilation."""
    return import_module("llvmlite.ir")
