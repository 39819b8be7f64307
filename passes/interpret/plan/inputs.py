"""The arguments of a kernel in a run: checks, and conversion to the bytes of stored elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from nkijit.dialects.python_values import one_line
from nkijit.dialects.spelling import counted
from nkijit.dialects.tiles import TileInfo, info_of
from nkijit.passes.interpret.plan.lending import Copied, Lent, Loan, Use, all_of_it, rows_in
from nkijit.passes.interpret.records.environment import Array, Slots, strided
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.numerics.storage import dtype_of_array, is_plain, storage


class Input:
    """An argument of a kernel."""

    def __init__(self, slots: Slots, number: int, is_written: bool):
        self.value = slots.kernel.arguments[number]
        self.name = self.value.name_hint or f"argument {number}"
        self.info: TileInfo = info_of(self.value)
        self.number = number
        self.slot = slots.base(self.value)
        self.is_written = is_written
        self._slots = slots
        self._stored = slots.stored(self.info.dtype)
        self._as_it_is = storage(self.info.dtype)

    def bytes_of(self, value: Any, copied: bool, use: Callable[[int], Use]) -> Array:
        """Return an array as the bytes that a run works on.

        Args:
            value: an array of the argument's shape and data type.
            copied: return the bytes of a copy.
            use: returns the kernel's use of an argument, by the argument's number. A copy may omit
                elements that the kernel does not touch.

        Raises InterpretationError if `value` is no array of this shape and data type.
        """
        array = self._checked(value, copied)
        return self._memory_with(np.array(array, order="C", copy=True) if copied else array, use)

    def lend(self, value: Any, loan: Loan, use: Use) -> tuple[Array, Lent]:
        """Return the bytes that a run works on, and the `Lent` that saves overwritten contents.

        `loan` restores the caller's array if the run fails. `use` is the kernel's use of the
        argument. Raises InterpretationError as `bytes_of` does.
        """
        array = self._checked(value, True)
        # Bytes of a bool array are 0 or 1; those of a tile can be anything.
        direct = array.flags.c_contiguous and array.dtype != np.bool_
        memory = self._memory_with(array if direct else _in_order(array, use), all_of_it)
        if memory.base is not None and np.may_share_memory(array, memory):
            return memory, loan.lend(memory, use, None)
        array = self.plain(array)
        copied = Copied(array, lambda: self.contents(memory, array))
        return memory, loan.lend(memory, use, copied)

    def plain(self, array: Array) -> Array:
        """Return an array; extension data types are viewed as the NumPy type of their storage."""
        return array if is_plain(array.dtype) else array.view(self._as_it_is)

    def contents(self, memory: Array, array: Array) -> Array:
        """Return the argument's contents in `memory`, in the shape and data type of `array`."""
        values = strided(memory, self._slots.access(self.value), self._stored)
        return values.astype(array.dtype, copy=False).reshape(array.shape)

    def _checked(self, value: Any, is_written: bool) -> Array:
        name = self.name
        if not isinstance(value, np.ndarray):
            raise InterpretationError(
                f"input '{name}': expected a NumPy array, got {one_line(value)}"
            )
        array = np.asarray(cast(Array, value))
        if array.shape != self.info.shape:
            raise InterpretationError(
                f"input '{name}': expected shape {self.info.shape}, got {array.shape}"
            )
        if is_written and not array.flags.writeable:
            raise InterpretationError(f"input '{name}' is read-only, but the kernel writes it")
        return array

    def _memory_with(self, array: Array, use: Callable[[int], Use]) -> Array:
        if array.dtype != self._stored or not is_plain(array.dtype):
            array = self._as_stored(array)
        if not array.flags.c_contiguous:
            array = _in_order(array, use(self.number))
        return self._slots.memory_with(self.value, array).view(np.uint8)

    def _as_stored(self, array: Array) -> Array:
        if self.info.dtype.name == "bool_" and array.dtype == np.bool_:
            return array.view(np.uint8)
        if not is_plain(array.dtype) and dtype_of_array(array) is self.info.dtype:
            array = array.view(self._as_it_is)
        if array.dtype != self._as_it_is:
            raise InterpretationError(
                f"input '{self.name}': expected {self.info.dtype.name}, got an array of "
                f"{array.dtype}"
            )
        return array.astype(self._stored, copy=False)


def _in_order(array: Array, use: Use) -> Array:
    """Return a copy in C order; the copy may omit elements that the kernel does not touch."""
    if use.touched is None:
        return np.array(array, order="C", copy=True)
    ordered = np.empty(array.shape, array.dtype)
    rows = rows_in(array, use.touched)
    ordered[rows] = array[rows]
    return ordered


def wrong_count(arguments: Sequence[Input], count: int) -> str:
    """Return the message for a run with another number of inputs than the kernel has arguments."""
    names = ", ".join(argument.name for argument in arguments) or "none"
    return f"expected {counted(len(arguments), 'input')} ({names}), got {count}"
