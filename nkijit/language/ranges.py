"""Ranges: of loops that are unrolled while tracing, and of indices."""

from __future__ import annotations

import builtins
from typing import Any, cast

from nkijit.dialects.access import DynamicSlice
from nkijit.tracing.registers import VirtualRegister
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import active_tracer


def ds(start: int | VirtualRegister | NkiTensor, size: int) -> DynamicSlice:
    """The index of `size` elements from `start`, for `tensor[nl.ds(start, size)]`.

    `start` may be a register or a tensor of one element; its value is known when the kernel runs.

    Example:

        rows = hbm[nl.ds(128, 128)]

    Source: NKI API reference, nki.language.ds.
    """
    return DynamicSlice(cast(Any, start), size)


def static_range(start: int, stop: int | None = None, step: int = 1) -> builtins.range:
    """A loop that is unrolled while tracing, with the arguments of Python's `range`.

    Example:

        halves = [x[:, nl.ds(256 * i, 256)] for i in nl.static_range(2)]

    As an index of a tensor it is the slice of its numbers.
    Source: NKI API reference, nki.language.static_range.
    """
    return _range("nl.static_range", start, stop, step)


def affine_range(start: int, stop: int | None = None, step: int = 1) -> builtins.range:
    """As `static_range`; declares that iterations are independent.

    Example:

        tiles = [nl.load(hbm[nl.ds(128 * i, 128)]) for i in nl.affine_range(2)]
    """
    return _range("nl.affine_range", start, stop, step)


def sequential_range(start: int, stop: int | None = None, step: int = 1) -> builtins.range:
    """As `static_range`; declares that iterations depend on each other.

    Example:

        for i in nl.sequential_range(2):
            nisa.dma_copy(x, hbm[nl.ds(128 * i, 128)])
    """
    return _range("nl.sequential_range", start, stop, step)


def _range(call: str, start: int, stop: int | None, step: int) -> builtins.range:
    tracer = active_tracer()
    numbers = {"stop": start} if stop is None else {"start": start, "stop": stop, "step": step}
    for name, number in numbers.items():
        if tracer is not None and isinstance(number, float):
            tracer.wrong_argument(call, name, "an integer", number)
    return builtins.range(*numbers.values())


range = builtins.range
"""Python's own `range`."""

__all__ = ["affine_range", "ds", "range", "sequential_range", "static_range"]
