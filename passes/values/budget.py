"""The default memory budget of a recording."""

from __future__ import annotations

BUDGET = 256 << 20
"""Bytes of values that a recording retains, in addition to the inputs and the memory of one run."""
