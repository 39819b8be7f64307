"""The launch grid, and loops.

Source of all: NKI API reference 2.26, nki.language.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from math import prod
from typing import Any, cast

from nkijit.classic.calls.calls import refuse_rest
from nkijit.classic.grids.grid import MAX_DIMS
from nkijit.classic.grids.grid import nc as nc
from nkijit.classic.grids.grid import spmd_dim as spmd_dim
from nkijit.classic.grids.instances import Instance, active_instance
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.operands import ARGUMENT, UNSUPPORTED
from nkijit.dialects.spelling import numbered
from nkijit.language.ranges import range_of
from nkijit.tracing.checks import refuse
from nkijit.tracing.dtype_names import CLASSIC
from nkijit.tracing.tracer import tracer_for


def program_id(axis: int) -> int:
    """Index of the instance along an axis of the grid; 0 for a kernel without a grid."""
    instance = _instance("nl.program_id")
    at = instance.at
    programs = prod(instance.grid.sizes)
    if programs == 1 or len(instance.grid.sizes) == 1:
        tracer_for("nl.program_id").reads_program_id(programs)
    number = _axis("nl.program_id", axis)
    return at[number] if at else 0


def num_programs(axes: Any = None) -> int:
    """The number of instances along one or several axes of the grid; by default along all axes."""
    call = "nl.num_programs"
    sizes = _instance(call).grid.sizes
    if axes is None:
        return prod(sizes)
    items = cast("Sequence[Any]", axes) if isinstance(axes, (tuple, list)) else (axes,)
    numbers = [_axis(call, axis) for axis in items]
    return prod(sizes[number] for number in numbers) if sizes else 1


def program_ndim() -> int:
    """The number of dimensions of the grid; 0 for a kernel without a grid."""
    return len(_instance("nl.program_ndim").grid.sizes)


def _instance(call: str) -> Instance:
    tracer_for(call).check_api(CLASSIC, call)
    instance = active_instance()
    assert instance is not None
    return instance


def _axis(call: str, axis: Any) -> int:
    """Check that an axis exists; a kernel without a grid accepts the axes of any grid."""
    dims = len(_instance(call).grid.sizes)
    try:
        number = operator.index(axis)
    except TypeError:
        number = -1
    if not 0 <= number < (dims or MAX_DIMS):
        has = numbered(dims, "dimension")
        message = f"'axis': the launch grid has {has}, got axis {one_line(axis)}"
        help = "pass an axis of the grid, which counts from 0; kernel[4, 2](...) has axes 0 and 1"
        tracer_for(call).fail(ARGUMENT, call, message, help)
    return number


class affine_range(Sequence[int]):
    """A loop with independent iterations; the loop variable is an integer.

    Takes the arguments of Python's `range`. The loop is unrolled while tracing. A warning reports
    elements that one iteration writes and another iteration writes or reads, except for reductions
    into these elements.
    """

    def __init__(self, *args: int, **kwargs: Any):
        """Raises TypeError and ValueError as `range` does; undocumented keywords end the trace."""
        refuse_rest("nl.affine_range", kwargs)
        self._numbers = _range("nl.affine_range", args)
        # The attributes of Python's `range`, so that it can index a tensor, too.
        self.start, self.stop = self._numbers.start, self._numbers.stop
        self.step = self._numbers.step

    def __iter__(self) -> Iterator[int]:
        instance = active_instance()
        if instance is None:
            return iter(self._numbers)
        return instance.independence.iterations(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        return cast(Any, self._numbers[index])

    def __repr__(self) -> str:
        return f"affine_{self._numbers!r}"


def static_range(*args: int) -> range:
    """A loop that is unrolled while tracing: Python's `range`."""
    return _range("nl.static_range", args)


def sequential_range(*args: int, **kwargs: Any) -> Iterable[int]:
    """A loop with iterations in order; it is unrolled, and the loop variable is an integer.

    Args:
        args: as for Python's `range`.
        kwargs: `directives=nki.compiler.no_reorder()` runs the loop in this `with` block.
    """
    directives = kwargs.pop("directives", None)
    refuse_rest("nl.sequential_range", kwargs)
    numbers: Sequence[int] = _range("nl.sequential_range", args)
    if directives is None:
        return numbers
    if not isinstance(directives, AbstractContextManager):
        tracer_for("nl.sequential_range").fail(
            UNSUPPORTED, "nl.sequential_range", f"'directives' is {one_line(directives)}"
        )
    return _within(numbers, cast("AbstractContextManager[Any]", directives))


def _range(call: str, args: Sequence[int]) -> range:
    """Return Python's `range`; while tracing, an argument that is no integer is a finding."""
    names = ("stop",) if len(args) == 1 else ("start", "stop", "step")
    if not 1 <= len(args) <= len(names):
        refuse(call, f"takes 1 to 3 integers, got {len(args)}", error=TypeError)
    return range_of(call, dict(zip(names, args, strict=False)))


def _within(numbers: Sequence[int], block: AbstractContextManager[Any]) -> Iterator[int]:
    with block:
        yield from numbers


__all__ = [
    "affine_range",
    "nc",
    "num_programs",
    "program_id",
    "program_ndim",
    "sequential_range",
    "spmd_dim",
    "static_range",
]
