"""`nl.arange` and `nl.mgrid`, which create index expressions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from nkijit.classic.indexing.expressions import Index, as_integer, fail_index
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.classic import AFFINE_INDEX
from nkijit.dialects.rule_texts.view_helps import for_integer, named
from nkijit.dialects.spelling import numbered
from nkijit.tracing.dtype_names import CLASSIC
from nkijit.tracing.tracer import check_api


def _help_for_numbers(numbers: Iterable[Any]) -> str:
    """Return the help for the first number that is no integer, or "". None is ignored."""
    wrong = [n for n in numbers if n is not None and as_integer(n) is None]
    return named(for_integer(wrong[0]), "x", classic=True) if wrong else ""


def arange(*args: Any) -> Index:
    """`arange(stop)`, `arange(start, stop)` or `arange(start, stop, step)`: one dimension.

    An index of a tile needs two dimensions or more: `nl.arange(128)[:, None]`.
    Source: NKI API reference 2.26, nki.language.arange.
    """
    check_api(CLASSIC, "nl.arange")
    numbers = [as_integer(arg) for arg in args]
    if not 1 <= len(numbers) <= 3 or None in numbers:
        help = _help_for_numbers(args) or "write nl.arange(stop), or nl.arange(start, stop, step)"
        message = f"nl.arange takes one to three integers, got {one_line(args)}"
        fail_index(AFFINE_INDEX, message, help)
    if len(numbers) == 3 and numbers[2] == 0:
        help = "pass a positive or a negative step, or leave it out"
        fail_index(AFFINE_INDEX, f"nl.arange{args} has a step of 0", help)
    values = range(*cast("list[int]", numbers))
    return Index((len(values),), (values.step,), values.start)


class Grid(tuple[Index, ...]):
    """The index expressions of `nl.mgrid[...]`, all of one shape; `.p` is the first one."""

    @property
    def p(self) -> Index:
        """Index of the partition dimension."""
        return self._of(0)

    @property
    def x(self) -> Index:
        """Index of the first free dimension."""
        return self._of(1)

    @property
    def y(self) -> Index:
        """Index of the second free dimension."""
        return self._of(2)

    @property
    def z(self) -> Index:
        """Index of the third free dimension."""
        return self._of(3)

    def _of(self, dim: int) -> Index:
        if dim >= len(self):
            fail_index(
                AFFINE_INDEX, f"nl.mgrid of {numbered(len(self), 'dimension')} has no {'pxyz'[dim]}"
            )
        return self[dim]


class _Mgrid:
    """`nl.mgrid[0:128, 0:512]`: one index expression per dimension, all of the same shape.

    Source: NKI API reference 2.26, nki.language.mgrid.
    """

    def __getitem__(self, key: Any) -> Grid:
        check_api(CLASSIC, "nl.mgrid")
        keys = cast("tuple[Any, ...]", key if isinstance(key, tuple) else (key,))
        ranges: list[range] = []
        for item in keys:
            given = cast("slice[Any, Any, Any]", item) if isinstance(item, slice) else slice(None)
            start = 0 if given.start is None else as_integer(given.start)
            stop = None if given.stop is None else as_integer(given.stop)
            step = 1 if given.step is None else as_integer(given.step)
            if start is None or stop is None or not step:
                parts = (given.start, given.stop, given.step)
                fail_index(
                    AFFINE_INDEX,
                    f"nl.mgrid takes slices with a stop and no step of 0, got {one_line(item)}",
                    _help_for_numbers(parts) or "write a slice for each dimension, start:stop",
                )
            ranges.append(range(start, stop, step))
        shape = tuple(map(len, ranges))
        if not shape:
            help = "write a slice for each dimension, start:stop"
            fail_index(AFFINE_INDEX, f"nl.mgrid[{one_line(key)}] is empty", help)
        return Grid(
            Index(
                shape,
                [r.step if d == dim else 0 for d in range(len(shape))],
                r.start,
                [d != dim for d in range(len(shape))],
            )
            for dim, r in enumerate(ranges)
        )


mgrid = _Mgrid()
