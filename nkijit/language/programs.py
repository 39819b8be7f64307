"""The launch grid: the core that a kernel is traced for, and the number of cores."""

from __future__ import annotations

from typing import Any, cast

from nkijit.dialects.python_values import as_index, one_line
from nkijit.dialects.rule_texts.operands import UNSUPPORTED
from nkijit.tracing.annotations import Axes
from nkijit.tracing.dtype_names import CURRENT
from nkijit.tracing.tracer import tracer_for


def program_id(axis: int = 0) -> int:
    """The core that the kernel is traced for: 0, or 0 and 1 for `kernel[2]`.

    Example:

        core = nl.program_id(0)

    Source: NKI API reference, nki.language.program_id.
    """
    _check_axis("nl.program_id", axis)
    tracer = tracer_for("nl.program_id")
    number, count = tracer.core
    tracer.reads_program_id(count)
    return number


def num_programs(axes: Axes = 0) -> int:
    """The number of cores that the kernel is launched on.

    Example:

        cores = nl.num_programs()

    Source: NKI API reference, nki.language.num_programs.
    """
    for axis in cast(tuple[Any, ...], axes if isinstance(axes, (tuple, list)) else (axes,)):
        _check_axis("nl.num_programs", axis)
    return tracer_for("nl.num_programs").core[1]


def program_ndim() -> int:
    """The number of dimensions of the launch grid; 0 without a grid.

    Example:

        dimensions = nl.program_ndim()

    Source: NKI API reference, nki.language.program_ndim.
    """
    tracer = tracer_for("nl.program_ndim")
    tracer.check_api(CURRENT, "nl.program_ndim")
    return tracer.grid_dims


def _check_axis(call: str, axis: Any) -> None:
    tracer = tracer_for(call)
    tracer.check_api(CURRENT, call)
    if as_index(axis) != 0:
        help = f"write {call}(0): kernel[2](…), or -c 2, launches two programs along axis 0"
        message = f"the launch grid has one axis, got axis {one_line(axis)}"
        tracer.fail(UNSUPPORTED, call, message, help)


__all__ = ["num_programs", "program_id", "program_ndim"]
