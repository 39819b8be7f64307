"""Interpretation: run the IR with NumPy."""

from __future__ import annotations

from nkijit.passes.interpret import nisa as nisa  # registers what instructions compute
from nkijit.passes.interpret.errors import (
    InterpretationError,
    OutOfBoundsError,
    UnwrittenError,
)
from nkijit.passes.interpret.launch import Launch
from nkijit.passes.interpret.plan import Listener, Plan

__all__ = [
    "InterpretationError",
    "Launch",
    "Listener",
    "OutOfBoundsError",
    "Plan",
    "UnwrittenError",
]
