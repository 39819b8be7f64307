"""Interpretation: run the IR with NumPy."""

from __future__ import annotations

from importlib import import_module

from nkijit.passes.interpret.errors import (
    InterpretationError,
    OutOfBoundsError,
    UnwrittenError,
)
from nkijit.passes.interpret.launch import Launch
from nkijit.passes.interpret.plan import Listener, Plan

FAMILIES = (
    "activation",
    "collectives",
    "cores",
    "elementwise",
    "exponential",
    "gather",
    "matmul",
    "movement",
    "mx",
    "pattern",
    "random",
    "reduce",
    "registers",
    "scan",
    "search",
    "select",
    "statistics",
    "transpose",
)
"""Families of instructions; importing one registers its semantics."""

for _family in FAMILIES:
    import_module(f"{__name__}.{_family}")

__all__ = [
    "FAMILIES",
    "InterpretationError",
    "Launch",
    "Listener",
    "OutOfBoundsError",
    "Plan",
    "UnwrittenError",
]
