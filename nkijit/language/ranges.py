"""Ranges for loops that are unrolled while tracing, and for indices."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Mapping
from typing import Any, cast

from nkijit.dialects.access import DynamicSlice
from nkijit.dialects.python_values import one_line
from nkijit.tracing.checks import refuse
from nkijit.tracing.dtype_names import CURRENT
from nkijit.tracing.hints import register_of
from nkijit.tracing.registers import VirtualRegister
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import check_api


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

    As an index of a tensor, a `static_range` selects the slice of its numbers.
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
    check_api(CURRENT, call)
    numbers = {"stop": start} if stop is None else {"start": start, "stop": stop, "step": step}
    return range_of(call, numbers)


def range_of(call: str, numbers: Mapping[str, Any]) -> builtins.range:
    """Return Python's `range`; an argument that is no integer ends the trace.

    Args:
        call: the function in messages.
        numbers: maps the parameter names of `range`, in order, to the arguments.
    """
    integers = {name: _integer(call, name, number) for name, number in numbers.items()}
    if integers.get("step") == 0:
        refuse(call, "'step' is 0", "pass a positive or a negative step")
    return builtins.range(*integers.values())


def _integer(call: str, name: str, number: Any) -> int:
    try:
        integer = operator.index(number)
    except TypeError:
        message = f"'{name}': expected an integer, got {one_line(number)}"
        refuse(call, message, _help_for_bound(number), TypeError)
    if not -_MOST <= integer <= _MOST:
        refuse(call, f"'{name}': {one_line(number)} does not fit 64 bits")
    return integer


_MOST = 2**62
"""The largest bound of a range: Python cannot count more iterations."""


def _help_for_bound(number: Any) -> str:
    if isinstance(number, float):
        return "divide with // for an integer, e.g. x.shape[1] // 128"
    if isinstance(number, NkiTensor):
        return (
            "a loop whose bound is known only at run time is nl.dynamic_range over a register: "
            f"{register_of(number)}"
        )
    if isinstance(number, VirtualRegister):
        return "a loop whose bound is in a register is nl.dynamic_range"
    if hasattr(number, "shape"):
        return "values of tensors are known on the device only: pass the bound to the kernel"
    return "pass an integer that is known while the kernel is traced, e.g. x.shape[0] // 128"


range = builtins.range
"""Python's own `range`."""

__all__ = ["affine_range", "ds", "range", "sequential_range", "static_range"]
