"""Search for the origin of values in a run: NaN, infinities, or elements that match a predicate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nkijit.dialects.spelling import counted
from nkijit.passes.values.instructions import (
    Array,
    Statistics,
    ends_of,
    loops_text,
    short_place,
)
from nkijit.passes.values.items import RecordedInstruction, RecordedOperand

Predicate = Callable[[Array], npt.NDArray[np.bool_]]
"""Returns True for each matching element of an array, like `np.isnan`."""


Holds = Callable[[Array], npt.NDArray[np.bool_]]
"""A predicate that accepts arrays of any stored type."""


def saturated(values: Array) -> npt.NDArray[np.bool_]:
    """True for elements at an end of the range of their data type."""
    low, high = ends_of(values.dtype)
    wide = values.astype(np.float64)
    return (wide == low) | (wide == high)


Given = Callable[[Array, Array, bool], bool]
"""Returns True if the constant numbers of an instruction explain the values that it wrote.

The arguments are the numbers, the values, and True if the instruction reads a tile.
"""


def fills(numbers: Array, values: Array, reads: bool) -> bool:
    """True if an instruction fills its result with a number near the data type's largest.

    False if the instruction reads a tile, as it then clamps values to the number. Exception: in a
    data type with numbers above `_FILLING`, the number is the fill value of a mask.
    """
    _, high = ends_of(values.dtype)
    # Kernels do not clamp to 3.4e38, which is a common fill value of masks.
    return bool((np.abs(numbers) >= high * (1 - _ABOUT)).any()) and (not reads or high > _FILLING)


_ABOUT = 2.0**-8
"""Numbers within this relative distance of the largest number are fill values, e.g. 3.4e38."""
_FILLING = 1e30


def not_finite(values: Array) -> npt.NDArray[np.bool_]:
    """True for elements that are NaN or infinite; False for all integers."""
    return (
        ~np.isfinite(values.astype(np.float64))
        if values.dtype.kind not in "biu"
        else (np.zeros(values.shape, np.bool_))
    )


@dataclass(frozen=True, slots=True)
class Found:
    """The first instruction that wrote matching elements; `print` shows it."""

    instruction: RecordedInstruction
    operand: RecordedOperand
    """The operand with the matching elements, which the instruction wrote."""
    index: tuple[int, ...]
    """The index of the first matching element in the operand."""
    count: int
    """The number of matching elements in the operand."""
    had: RecordedOperand | None
    """The operand that had matching elements before the instruction.

    None if the instruction itself produced the first matching elements.
    """

    @property
    def value(self) -> float:
        """The value of the first matching element."""
        return float(self.operand.after[self.index])

    def __str__(self) -> str:
        instruction, operand = self.instruction, self.operand
        element = f"{operand.tile}{list(self.index)} is {self.value:g}"
        if self.had is None:
            head = f"{instruction.op} made it: {element}"
        else:
            head = f"{instruction.op} read it in {self.had.tile}: {element}"
        lines = headline(instruction, head)
        size = "x".join(map(str, operand.shape))
        lines.append(
            f"  {self.count:,} of {counted(operand.after.size, 'element')} of {operand.tile} "
            f"({size} "
            f"{operand.dtype}) are such, {operand.name}{list(self.index)} is the first"
        )
        lines += [f"  {each}" for each in operands_at(instruction, operand, self.index)]
        if self.had is not None:
            lines.append(
                f"  {self.had.tile} had it before anything was computed: it is in an input, or "
                "nothing has written it"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"<found {self.value:g} in {self.operand.tile}{list(self.index)}: {self.instruction!r}>"
        )


def headline(instruction: RecordedInstruction, text: str) -> list[str]:
    """Return lines with an instruction's location, a message and loops, and the source line."""
    loops = f" ({loops_text(tuple(instruction.loops.items()))})" if instruction.loops else ""
    lines = [f"{short_place(instruction.location)}: {text}{loops}"]
    lines += [f"  called from {short_place(place)}" for place in instruction.calls[1:]]
    source = "" if instruction.location is None else instruction.location.source_line().strip()
    return [*lines, *[f"    {source}"] * bool(source)]


def _element(value: Any) -> str:
    return str(int(value)) if value.dtype.kind in "iu" else f"{float(value):.7g}"


def operands_at(
    instruction: RecordedInstruction, written: RecordedOperand, index: tuple[int, ...]
) -> list[str]:
    """Return a line of text for each operand that the instruction reads.

    The line shows the operand's element, or row, that corresponds to element `index` of the result.
    """
    lines: list[str] = []
    for operand in instruction.operands:
        if not operand.is_read:
            continue
        values, name = operand.before, f"{operand.name} = {operand.tile}"
        # Elements correspond by index; dimensions of size 1 are broadcast.
        if len(values.shape) == len(written.shape) and all(
            mine in (1, other) for mine, other in zip(values.shape, written.shape, strict=True)
        ):
            place = [i if n > 1 else 0 for i, n in zip(index, values.shape, strict=True)]
            lines.append(f"{name}{place} = {_element(values[tuple(place)])}")
        elif values.shape[0] == written.shape[0]:
            lines.append(f"{name}[{index[0]}, :]: {Statistics.of(values[index[0]])}")
        else:
            lines.append(f"{name}: {Statistics.of(values)}")
    return [*lines, *(f"{name} = {number:.7g}" for name, number in instruction.numbers.items())]
