"""Marks for the memory of a tensor: where values come from that nothing has determined."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.nki.views import views_of
from nkijit.dialects.tiles import info_of

MARK = np.int16
Marks = npt.NDArray[np.int16]

DEFINED = 0
"""The mark of a value that is determined, or of which it is not known that it is not."""
UNWRITTEN = 1
"""The mark of memory that nothing has written. Marks above are numbers of `Origins`."""
KEPT = -1
"""In what an instruction leaves: an element that it does not touch."""


class Shadow:
    """A mark for every piece of a tensor's memory that its views can tell apart."""

    def __init__(self, base: SSAValue, mark: int, others: Iterable[SSAValue] = (), pieces: int = 0):
        """Memory that has one mark.

        Args:
            base: the tensor.
            mark: its mark.
            others: further views of the same memory, which other cores have.
            pieces: bytes that have a mark together; 0 for as many as no view divides.
        """
        info, values = info_of(base), (base, *views_of(base), *others)
        sizes = {info_of(value).dtype.itemsize for value in values}
        self._unit = pieces or math.gcd(*sizes)
        self.marks: Marks = np.full(info.size * info.dtype.itemsize // self._unit, mark, MARK)

    def read(
        self, access: AccessPattern, itemsize: int, key: Any = ..., *, least: bool = False
    ) -> Marks:
        """The marks of elements: of one that has several, the largest, or the `least`."""
        pieces = self._pieces(access, itemsize)[key]
        # One after the other: NumPy is slow along so short a dimension.
        combine = np.minimum if least else np.maximum
        return reduce(combine, [pieces[..., number] for number in range(pieces.shape[-1])])

    def write(self, access: AccessPattern, itemsize: int, marks: Marks, key: Any = ...) -> None:
        """Mark elements, but for those whose mark is `KEPT`."""
        pieces = self._pieces(access, itemsize)
        if marks.min() == KEPT:
            marks = np.where(marks == KEPT, self.read(access, itemsize, key), marks)
        pieces[key] = marks[..., None]

    def _pieces(self, access: AccessPattern, itemsize: int) -> Marks:
        """(*shape, pieces of an element), sharing memory with the marks."""
        count, size = itemsize // self._unit, self.marks.itemsize
        strides = (*(stride * count * size for stride in access.strides), size)
        shape = (*access.shape, count)
        return np.ndarray(shape, MARK, self.marks, access.offset * count * size, strides)
