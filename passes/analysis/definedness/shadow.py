"""Marks for the memory of a tensor: where values come from that nothing has determined."""

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
"""The mark of a value that is determined, or of which it is not known that it is not."""
UNWRITTEN = 1
"""The mark of memory that nothing has written. Marks above are numbers of `Origins`."""
KEPT = -1
"""In what an instruction leaves: an element that it does not touch."""


class Shadow:
    """A mark for every piece of a tensor's memory that its views can tell apart."""

    def __init__(
        self,
        bases: Sequence[SSAValue],
        reach: Reach,
        mark: int,
        *,
        outside: int = UNWRITTEN,
        pieces: int = 0,
    ):
        """Memory that has one mark, and another one outside of the tensor.

        Args:
            bases: the tensor, by the names that cores have for it.
            reach: its memory.
            mark: its mark.
            outside: the mark of what is outside of the tensor, which no write changes.
            pieces: bytes that have a mark together; 0 for as many as no view divides.
        """
        values = (value for base in bases for value in (base, *views_of(base)))
        self.reach = reach
        self._unit = pieces or math.gcd(*{info_of(value).dtype.itemsize for value in values})
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
        """The marks of elements: of one that has several, the largest, or the `least`.

        Args:
            access: which elements, in the tensor's memory (`Reach.place`).
            itemsize: bytes of each.
            key: which of them.
            least: of several marks the least.
        """
        pieces = self._pieces(self.marks, access, itemsize)[key]
        # One after the other: NumPy is slow along so short a dimension.
        combine = np.minimum if least else np.maximum
        return reduce(combine, [pieces[..., number] for number in range(pieces.shape[-1])])

    def write(self, access: AccessPattern, itemsize: int, marks: Marks, key: Any = ...) -> None:
        """Mark elements, but for those whose mark is `KEPT`."""
        pieces = self._pieces(self.marks, access, itemsize)
        if marks.min() == KEPT:
            marks = np.where(marks == KEPT, self.read(access, itemsize, key), marks)
        pieces[key] = marks[..., None]
        if self._outside is not None:
            self.marks[self._outside] = self._mark_outside

    def outside(self, access: AccessPattern, itemsize: int) -> Mask | None:
        """Which elements are not, or not as a whole, the tensor's; None where all are."""
        if self._outside is None:
            return None
        pieces = self._pieces(self._outside, access, itemsize)
        return np.asarray(pieces.any(axis=-1), np.bool_)

    def _pieces(self, marks: npt.NDArray[Any], access: AccessPattern, itemsize: int) -> Any:
        """(*shape, pieces of an element), sharing memory with an array of marks."""
        count, size = itemsize // self._unit, marks.itemsize
        strides = (*(stride * count * size for stride in access.strides), size)
        shape = (*access.shape, count)
        return np.ndarray(shape, marks.dtype, marks, access.offset * count * size, strides)
