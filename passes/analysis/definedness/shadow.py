"""Shadow memory: marks for a tensor's memory that give the origin of undefined values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.nki.views import views_of
from nkijit.dialects.reach import Reach
from nkijit.dialects.tiles import info_of

MARK = np.int16
Marks = npt.NDArray[np.int16]
Mask = npt.NDArray[np.bool_]

DEFINED = 0
"""The mark of a value that is defined, or not known to be undefined."""
UNWRITTEN = 1
"""The mark of memory that has not been written; higher marks are numbers of `Origins`."""
KEPT = -1
"""A mark in the result of a flow (`flows.py`): the instruction does not write this element."""


class Shadow:
    """The marks of a tensor's memory, one for each unit of a constant number of bytes."""

    def __init__(
        self,
        bases: Sequence[SSAValue],
        reach: Reach,
        mark: int,
        *,
        outside: int = UNWRITTEN,
        unit: int = 0,
    ):
        """Set the mark of the tensor's memory to `mark`, and of the memory around it to `outside`.

        Args:
            bases: the tensor's value on each core.
            reach: the tensor's memory.
            mark: the initial mark inside the tensor.
            outside: the mark outside the tensor, which writes do not change.
            unit: the number of bytes that share a mark; 0 for the largest number that divides the
                element size of every view.
        """
        values = (value for base in bases for value in (base, *views_of(base)))
        self.reach = reach
        self._unit = unit or math.gcd(*{info_of(value).dtype.itemsize for value in values})
        self.marks: Marks = np.full(reach.size // self._unit, mark, MARK)
        self._mark_outside = outside
        self._outside: Mask | None = None
        if reach.extended:
            self._outside = np.zeros(self.marks.shape, np.bool_)
            for block in reach.outside(self._unit):
                self._pieces(self._outside, block, self._unit)[...] = True
            self.marks[self._outside] = outside

    def read(
        self, access: AccessPattern, itemsize: int, key: Any = ..., *, least: bool = False
    ) -> Marks:
        """Return the marks of elements.

        Args:
            access: the elements' location in the tensor's memory (`Reach.place`).
            itemsize: bytes of an element.
            key: an index that selects some of the elements.
            least: return the least, not the largest mark of an element's units.
        """
        pieces = self._pieces(self.marks, access, itemsize)[key]
        # One unit after the other: NumPy's reductions are slow along a short dimension.
        combine = np.minimum if least else np.maximum
        return reduce(combine, [pieces[..., number] for number in range(pieces.shape[-1])])

    def write(self, access: AccessPattern, itemsize: int, marks: Marks, key: Any = ...) -> None:
        """Set the marks of elements; `KEPT` leaves a mark unchanged."""
        pieces = self._pieces(self.marks, access, itemsize)
        if marks.min() == KEPT:
            marks = np.where(marks == KEPT, self.read(access, itemsize, key), marks)
        pieces[key] = marks[..., None]
        if self._outside is not None:
            self.marks[self._outside] = self._mark_outside

    def outside(self, access: AccessPattern, itemsize: int) -> Mask | None:
        """Return which elements are at least partly outside the tensor; None if none can be."""
        if self._outside is None:
            return None
        pieces = self._pieces(self._outside, access, itemsize)
        return np.asarray(pieces.any(axis=-1), np.bool_)

    def _pieces(self, marks: npt.NDArray[Any], access: AccessPattern, itemsize: int) -> Any:
        """Return a view of an array of marks with the shape (*shape, units per element)."""
        count, size = itemsize // self._unit, marks.itemsize
        strides = (*(stride * count * size for stride in access.strides), size)
        shape = (*access.shape, count)
        return np.ndarray(shape, marks.dtype, marks, access.offset * count * size, strides)


def distinct(access: AccessPattern) -> AccessPattern:
    """Return a pattern of the same elements in which windows that overlap are one dimension.

    >>> distinct(AccessPattern(0, (1, 1), (4, 3)))
    AccessPattern(offset=0, strides=(1,), shape=(6,))
    """
    if min(access.strides, default=0) < 0 or not access.size:
        return access
    sizes: list[int] = []
    strides: list[int] = []
    for stride, size in sorted(zip(access.strides, access.shape, strict=True)):
        if stride == 0 or size == 1:
            continue
        if strides and stride % strides[-1] == 0 and stride <= strides[-1] * sizes[-1]:
            sizes[-1] += (size - 1) * (stride // strides[-1])
            continue
        sizes.append(size)
        strides.append(stride)
    return AccessPattern(access.offset, tuple(strides), tuple(sizes))
