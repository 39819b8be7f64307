"""Interpretation: run the IR with NumPy."""

from __future__ import annotations

# Importing a family registers its semantics.
from nkijit.passes.interpret import (
    activation,
    collectives,
    cores,
    elementwise,
    exponential,
    matmul,
    movement,
    pattern,
    reduce,
    registers,
)
from nkijit.passes.interpret.binding import InterpretationError
from nkijit.passes.interpret.launch import Launch
from nkijit.passes.interpret.plan import Listener, Plan

FAMILIES = (
    activation,
    collectives,
    cores,
    elementwise,
    exponential,
    matmul,
    movement,
    pattern,
    reduce,
    registers,
)

__all__ = ["FAMILIES", "InterpretationError", "Launch", "Listener", "Plan"]
