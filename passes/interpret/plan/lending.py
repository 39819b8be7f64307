"""Lends the caller's arrays to a run as its memory, without a copy where possible.

A kernel may touch only a small part of a large tensor, such as a cache to which the kernel adds a
row. So a run works directly on the memory of the caller's array. Before a run writes a page, it
saves the page's contents (`Loan`), and a run that fails restores them. The pages that a kernel
writes are known before the run, except where addresses are known only at run time.

An array that is not in C order is copied, and the run works on the copy. The copy contains the rows
on the pages that the kernel may touch. After the run, the rows on the written pages are copied
back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.interpret.records.byte_ranges import PAGE, ByteRanges, Pages
from nkijit.passes.interpret.records.environment import Array, Slots
from nkijit.passes.numerics.storage import storage

_T = TypeVar("_T")

SMALL = 1 << 20
"""Tensors of at most this many bytes are saved completely, which is faster than saving pages."""
SEARCH = 1 << 16
"""The time to determine an instruction's pages, as the number of bytes copied in the same time."""
ROW = 1 << 9
"""The time to select one row of an array, as the number of bytes copied in the same time."""


@dataclass(frozen=True, slots=True)
class Use:
    """A kernel's accesses to the memory of an argument."""

    touched: Pages | None = None
    """The pages that the kernel may touch; None for all."""
    written: Pages | None = None
    """The pages that the kernel may write at addresses known before the run; None for all pages."""

    @staticmethod
    def together(uses: Sequence[Use]) -> Use:
        """Return the accesses of several cores together."""
        if len(uses) == 1:
            return uses[0]
        return Use(_union([use.touched for use in uses]), _union([use.written for use in uses]))


_ALL = Use()


def all_of_it(_number: int) -> Use:
    """Return the use of an argument if nothing is known about the accesses: all pages."""
    return _ALL


def _union(parts: Sequence[Pages | None]) -> Pages | None:
    known = [part for part in parts if part is not None]
    return None if len(known) < len(parts) else np.unique(np.concatenate(known))


def uses_of(kernel: KernelOp, slots: Slots) -> list[Use]:
    """Return a kernel's use of each argument. A small argument counts as completely used."""
    large = [value for value in kernel.arguments if _has_pages(value, slots)]
    touched: dict[SSAValue, set[tuple[AccessPattern, int]] | None] = {v: set() for v in large}
    written: dict[SSAValue, set[tuple[AccessPattern, int]]] = {v: set() for v in large}
    for op in kernel.operations if large else ():
        for value, role in reads_and_writes(op):
            base, info = base_of(value), info_of(value)
            if base not in written:
                continue
            here = touched[base]
            if info.indirection is not None:
                touched[base] = None  # an index may select any element
                continue
            pattern = (slots.access(value), info.dtype.itemsize)
            if here is not None:
                here.add(pattern)
            if role is not Role.read:
                written[base].add(pattern)
    return [
        Use(_pages_of(touched[value], value), _pages_of(written[value], value))
        if value in written
        else Use()
        for value in kernel.arguments
    ]


def _has_pages(value: SSAValue, slots: Slots) -> bool:
    """Return whether the pages of a tensor are tracked.

    This requires a large tensor with the same layout in the caller's array and during a run.
    """
    dtype, reach = info_of(value).dtype, slots.reach(value)
    return reach.size > SMALL and not reach.extended and slots.stored(dtype) == storage(dtype)


def _pages_of(patterns: Iterable[tuple[AccessPattern, int]] | None, base: SSAValue) -> Pages | None:
    """Return the pages that access patterns touch; None if more than half of the tensor's pages."""
    if patterns is None:
        return None
    most = info_of(base).size * info_of(base).dtype.itemsize // PAGE // 2
    parts = [np.zeros(0, np.intp)]
    count = 0
    for access, itemsize in patterns:
        parts.append(ByteRanges.of(access, itemsize).pages())
        count += len(parts[-1])
        if count > most:
            return None
    return np.unique(np.concatenate(parts))


class Before:
    """The contents of parts of the caller's arrays before a run overwrote them."""

    def __init__(self) -> None:
        self._all: list[tuple[Array, Any, Array]] = []
        """Saved contents in the order of saving: (array, part, contents of the part)."""

    def keep(self, array: Array, part: Any = ...) -> None:
        """Save the contents of a part of an array that is about to be written."""
        held = array[part]
        self._all.append((array, part, held if isinstance(part, np.ndarray) else held.copy()))

    def put_back(self) -> None:
        """Restore all arrays, in reverse order."""
        try:
            while self._all:
                array, part, held = self._all[-1]
                array[part] = held
                self._all.pop()
        except KeyboardInterrupt:
            self.put_back()  # Arrays must not stay half-written.
            raise


class Loan:
    """The caller's arrays that a run writes.

    During the run, the arrays hold intermediate contents. After a successful run they hold all
    results; an exception restores them.
    """

    def __init__(self) -> None:
        self.before = Before()
        """The contents of the lent arrays before the run."""
        self._lent: list[Lent] = []

    def run(self, function: Callable[[Loan], _T]) -> _T:
        """Return the result of calling `function` with the loan.

        After the last array is complete, nothing is called and no iteration begins: there, Python
        can raise KeyboardInterrupt.
        """
        try:
            result = function(self)
            for lent in self._lent:
                lent.give_back()
            return result
        except BaseException:
            self.before.put_back()
            raise

    def lend(self, memory: Array, use: Use, copied: Copied | None) -> Lent:
        """Add a caller's array that the run may write.

        Args:
            memory: the bytes that the run works on.
            use: the kernel's use of these bytes.
            copied: the caller's array, if `memory` is a copy; None if `memory` is its own memory.
        """
        # `before` and not the loan: a reference cycle would retain memory until garbage collection.
        self._lent.append(Lent(self.before, memory, use, copied))
        return self._lent[-1]


@dataclass(frozen=True, slots=True)
class Copied:
    """A caller's array of which a run uses a copy."""

    array: Array
    """The caller's array."""
    contents: Callable[[], Array]
    """Returns the contents of the copy, in the shape and data type of the caller's array."""


class Lent:
    """A caller's array that a run may write. The array is restored if the run fails."""

    def __init__(self, before: Before, memory: Array, use: Use, copied: Copied | None):
        """Lend an array. `before` saves contents; the other arguments are those of `Loan.lend`."""
        self._before = before
        self._memory = memory
        self._lock = Lock()
        """Held while pages are saved, because several cores may write at the same time."""
        self._copied = copied
        self._marks: npt.NDArray[np.bool_] | None = None
        """For each page, whether it was saved (or, in a copy, written); None if all pages were."""
        self._patience = memory.size
        """The bytes that may still be saved page by page, before saving all pages is faster."""
        self._whole = memory.size // PAGE
        """The number of complete pages in the memory."""
        if use.written is None:
            if copied is None:
                before.keep(memory)
        else:
            self._marks = np.zeros(-(-memory.size // PAGE), np.bool_)
            self._keep(self._marks, use.written)

    def before_write(self, runs: ByteRanges) -> None:
        """Save the pages of bytes that are about to be written at run-time addresses."""
        with self._lock:
            self._keep_pages_of(runs)

    def _keep_pages_of(self, runs: ByteRanges) -> None:
        marks = self._marks
        if marks is None:
            return
        pages = runs.pages()
        self._keep(marks, pages[~marks[pages]])
        self._patience -= SEARCH
        if self._patience < 0:
            self._keep(marks, np.flatnonzero(~marks))
            self._marks = None

    def _keep(self, marks: npt.NDArray[np.bool_], pages: Pages) -> None:
        marks[pages] = True
        self._patience -= len(pages) * PAGE
        if self._copied is not None or not len(pages):
            return
        if pages[-1] == self._whole:
            self._before.keep(self._memory, slice(self._whole * PAGE, None))
            pages = pages[:-1]
        self._before.keep(self._memory[: self._whole * PAGE].reshape(-1, PAGE), pages)

    def give_back(self) -> None:
        """Copy the written pages of a copy to the caller's array."""
        if self._copied is None:
            return
        array, contents = self._copied.array, self._copied.contents()
        pages = None if self._marks is None else np.flatnonzero(self._marks)
        rows = rows_in(array, pages)
        self._before.keep(array, rows)
        array[rows] = contents[rows]


def rows_in(array: Array, pages: Pages | None) -> Any:
    """Return the NumPy index of the rows (along the last dimension) on some pages of an array.

    Pages are numbered as if the array were contiguous; None means all pages. If copying everything
    is faster, the index selects the whole array. A larger set of pages never selects fewer rows.
    """
    outer, width = array.shape[:-1], array.shape[-1] * array.itemsize
    if pages is None or not outer or len(pages) * PAGE // width * ROW > array.nbytes:
        return ...
    rows = ByteRanges(pages * PAGE, PAGE).blocks(width)
    return np.unravel_index(rows[rows < math.prod(outer)], outer)
