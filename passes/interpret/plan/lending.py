"""The author's arrays in a run: their own memory where that will do, else a copy of what is used.

A tensor may be far larger than what a kernel touches of it, a cache that it adds a row to. So a run
works on the memory of the author's array. Before it writes a page of that, it keeps what the page
held (`Loan`), and a run that does not come to its end puts all of it back. Which pages a kernel
writes is known before it runs, except where addresses are known at run time only.

The run works on a copy of an array that is not in C order. The copy holds the rows on the pages
that the kernel may touch, and the rows on the pages that it wrote are copied back.
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
"""Bytes of a tensor that is kept as a whole: that takes less time than to look for its pages."""
SEARCH = 1 << 16
"""Bytes that are copied in the time in which the pages of an instruction are looked for."""
ROW = 1 << 9
"""Bytes that are copied in the time in which one row of an array is looked for."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a kernel does with the memory of an argument."""

    touched: Pages | None = None
    """The pages that it may touch; None for all."""
    written: Pages | None = None
    """The pages that it may write at addresses that are known before it runs; None for all."""

    @staticmethod
    def together(uses: Sequence[Use]) -> Use:
        """What several cores do."""
        if len(uses) == 1:
            return uses[0]
        return Use(_union([use.touched for use in uses]), _union([use.written for use in uses]))


_ALL = Use()


def all_of_it(_number: int) -> Use:
    """What is taken for granted of an argument of which nothing is known."""
    return _ALL


def _union(parts: Sequence[Pages | None]) -> Pages | None:
    known = [part for part in parts if part is not None]
    return None if len(known) < len(parts) else np.unique(np.concatenate(known))


def uses_of(kernel: KernelOp, slots: Slots) -> list[Use]:
    """What a kernel does with each of its arguments; the whole of small ones."""
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
                touched[base] = None  # indices may select anything
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
    """Whether a tensor is large, and lies in a run as it does in an array."""
    dtype, reach = info_of(value).dtype, slots.reach(value)
    return reach.size > SMALL and not reach.extended and slots.stored(dtype) == storage(dtype)


def _pages_of(patterns: Iterable[tuple[AccessPattern, int]] | None, base: SSAValue) -> Pages | None:
    """The pages of some patterns; None where that is most of a tensor."""
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
    """What parts of the author's arrays held before a run wrote them."""

    def __init__(self) -> None:
        self._all: list[tuple[Array, Any, Array]] = []
        """Arrays with parts of them, and what these parts held; the first one kept first."""

    def keep(self, array: Array, part: Any = ...) -> None:
        """Keep what a part of an array holds, which is about to be written."""
        held = array[part]
        self._all.append((array, part, held if isinstance(part, np.ndarray) else held.copy()))

    def put_back(self) -> None:
        """Leave all arrays as they were; what was kept last goes back first."""
        try:
            while self._all:
                array, part, held = self._all[-1]
                array[part] = held
                self._all.pop()
        except KeyboardInterrupt:
            self.put_back()  # Arrays are not left half-written.
            raise


class Loan:
    """The author's arrays that a run writes.

    Meanwhile they hold what was written so far. When the run has come to its end they have all of
    it; an exception leaves them as they were.
    """

    def __init__(self) -> None:
        self.before = Before()
        """What the arrays held."""
        self._lent: list[Lent] = []

    def run(self, function: Callable[[Loan], _T]) -> _T:
        """What a function returns that is called with the loan.

        Nothing is called after the arrays have all that was written: Python raises
        KeyboardInterrupt after calls, at their beginning and when a loop goes on.
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
        """An array of the author's that a run may write.

        Args:
            memory: the bytes that the run works on.
            use: what the kernel does with them.
            copied: where they come from, if they are not the array's own.
        """
        # Not the loan, which knows what it lends: memory does not wait for a search for cycles.
        self._lent.append(Lent(self.before, memory, use, copied))
        return self._lent[-1]


@dataclass(frozen=True, slots=True)
class Copied:
    """An array whose own memory a run does not work on."""

    array: Array
    """The author's."""
    contents: Callable[[], Array]
    """What the copy holds, in the shape and data type of the array."""


class Lent:
    """One array that a run may write."""

    def __init__(self, before: Before, memory: Array, use: Use, copied: Copied | None):
        """`before` keeps what is written; the other arguments are those of `Loan.lend`."""
        self._before = before
        self._memory = memory
        self._lock = Lock()
        """Several cores write at once."""
        self._copied = copied
        self._marks: npt.NDArray[np.bool_] | None = None
        """The pages that were kept, or of a copy written; None for all."""
        self._patience = memory.size
        """How many bytes may still be copied before it takes less time to copy the rest."""
        self._whole = memory.size // PAGE
        """Pages that do not end with the memory."""
        if use.written is None:
            if copied is None:
                before.keep(memory)
        else:
            self._marks = np.zeros(-(-memory.size // PAGE), np.bool_)
            self._keep(self._marks, use.written)

    def before_write(self, runs: ByteRanges) -> None:
        """Bytes are about to be written that were not known before the run."""
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
        """Write what a copy holds to the author's array."""
        if self._copied is None:
            return
        array, contents = self._copied.array, self._copied.contents()
        pages = None if self._marks is None else np.flatnonzero(self._marks)
        rows = rows_in(array, pages)
        self._before.keep(array, rows)
        array[rows] = contents[rows]


def rows_in(array: Array, pages: Pages | None) -> Any:
    """The key of the rows, along the last dimension, that are in some pages of an array.

    Pages count as if the elements were in C order; None stands for all pages. The key of the whole
    array, where that takes less time. More pages never give fewer rows.
    """
    outer, width = array.shape[:-1], array.shape[-1] * array.itemsize
    if pages is None or not outer or len(pages) * PAGE // width * ROW > array.nbytes:
        return ...
    rows = ByteRanges(pages * PAGE, PAGE).blocks(width)
    return np.unravel_index(rows[rows < math.prod(outer)], outer)
