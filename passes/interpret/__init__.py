"""Interpretation: run the IR with NumPy."""

from __future__ import annotations

# Importing a family registers its semantics.
from nkijit.passes.interpret import (
    activation,
    elementwise,
    exponential,
    matmul,
    movement,
    pattern,
    reduce,
    scan,
    select,
    statistics,
)
from nkijit.passes.interpret.binding import InterpretationError
from nkijit.passes.interpret.plan import Listener, Plan

FAMILIES = (
    activation,
    elementwise,
    exponential,
    matmul,
    movement,
    pattern,
    reduce,
    scan,
    select,
    statistics,
)

__all__ = ["FAMILIES", "InterpretationError", "Listener", "Plan"]
