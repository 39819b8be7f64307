"""Ranges: of loops that are unrolled while tracing, and of indices."""

from __future__ import annotations

from nkijit.dialects.access import DynamicSlice


def ds(start: int, size: int) -> DynamicSlice:
    """The index of `size` elements from `start`, for `tensor[nl.ds(start, size)]`.

    Source: NKI API reference, nki.language.ds.
    """
    return DynamicSlice(start, size)


def static_range(start: int, stop: int | None = None, step: int = 1) -> range:
    """A loop that is unrolled while tracing; counts as Python's `range`.

    Source: NKI API reference, nki.language.static_range.
    """
    return range(start) if stop is None else range(start, stop, step)


def affine_range(start: int, stop: int | None = None, step: int = 1) -> range:
    """As `static_range`; says that iterations are independent."""
    return static_range(start, stop, step)


def sequential_range(start: int, stop: int | None = None, step: int = 1) -> range:
    """As `static_range`; says that iterations depend on each other."""
    return static_range(start, stop, step)


__all__ = ["affine_range", "ds", "sequential_range", "static_range"]
