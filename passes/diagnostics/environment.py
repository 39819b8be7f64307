"""Limits that environment variables set."""

from __future__ import annotations

import os


def limit_of(variable: str, default: int) -> int:
    """Return the limit in an environment variable. Raises ValueError unless it is positive."""
    text = os.environ.get(variable)
    if text is None:
        return default
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{variable} is '{text}', expected a positive integer")
    return int(text)
