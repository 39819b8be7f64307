"""Tuples with names, made where very many are."""

from __future__ import annotations

from typing import Any

made: Any = tuple[Any, ...].__new__
"""`made(Class, (…))`: what `Class(…)` makes of all its fields, without the call in Python that
`NamedTuple` has for it, which takes as long again."""
