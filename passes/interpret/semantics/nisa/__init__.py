"""Semantics of instructions, one module per family."""

from __future__ import annotations

from importlib import import_module

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
"""Modules of instruction families; importing a module registers its semantics."""

for _family in FAMILIES:
    import_module(f"{__name__}.{_family}")
