"""How much memory a recording takes unless told otherwise."""

from __future__ import annotations

BUDGET = 256 << 20
"""Bytes of values that are kept, beside the inputs and the memory of one run."""
