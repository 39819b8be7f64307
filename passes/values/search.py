"""Where in a run something turned up first: NaN, infinities, or whatever a predicate says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nkijit.passes.values.instructions import (
    Array,
    Statistics,
    ends_of,
    loops_text,
    short_place,
)
from nkijit.passes.values.items import RecordedInstruction, RecordedOperand

Predicate = Callable[[Array], npt.NDArray[np.bool_]]
"""`np.isnan` and its like: says of each element whether it is one."""


Holds = Callable[[Array], npt.NDArray[np.bool_]]
"""The same of an array as it is stored, of whatever type."""


def saturated(values: Array) -> npt.NDArray[np.bool_]:
    """Which elements are at an end of what their data type holds."""
    low, high = ends_of(values.dtype)
    wide = values.astype(np.float64)
    return (wide == low) | (wide == high)


Given = Callable[[Array, Array, bool], bool]
"""Whether the numbers that an instruction is given explain what it wrote, an array; the last
argument says whether it read anything."""


def fills(numbers: Array, values: Array, reads: bool) -> bool:
    """Whether a number fills what holds the largest that there is, or about that."""
    _, high = ends_of(values.dtype)
    # Nobody clamps to 3.4e38, which masks are filled with.
    return bool((np.abs(numbers) >= high * (1 - _ABOUT)).any()) and (not reads or high > _FILLING)


_ABOUT = 2.0**-8
"""Of a number that authors write in the place of the largest one: 3.4e38."""
_FILLING = 1e30


def not_finite(values: Array) -> npt.NDArray[np.bool_]:
    """Which elements are NaN or infinite; none of integers."""
    return (
        ~np.isfinite(values.astype(np.float64))
        if values.dtype.kind not in "biu"
        else (np.zeros(values.shape, np.bool_))
    )


@dataclass(frozen=True, slots=True)
class Found:
    """The first instruction that wrote what was looked for. `print` it."""

    instruction: RecordedInstruction
    operand: RecordedOperand
    """What it wrote."""
    index: tuple[int, ...]
    """The first such element of it."""
    count: int
    """How many of its elements are such."""
    had: RecordedOperand | None
    """The operand that had such elements before; None when the instruction made them."""

    @property
    def value(self) -> float:
        """The element."""
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
            f"  {self.count:,} of {operand.after.size:,} elements of {operand.tile} ({size} "
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
    """The author's line with what is said of it, the loops around and the text of the line."""
    loops = f" ({loops_text(tuple(instruction.loops.items()))})" if instruction.loops else ""
    lines = [f"{short_place(instruction.location)}: {text}{loops}"]
    lines += [f"  called from {short_place(place)}" for place in instruction.calls[1:]]
    source = "" if instruction.location is None else instruction.location.source_line().strip()
    return [*lines, *[f"    {source}"] * bool(source)]


def operands_at(
    instruction: RecordedInstruction, written: RecordedOperand, index: tuple[int, ...]
) -> list[str]:
    """What the operands held where an element of the result comes from, a line each."""
    lines: list[str] = []
    for operand in instruction.operands:
        if not operand.is_read:
            continue
        values, name = operand.before, f"{operand.name} = {operand.tile}"
        # Elements correspond by their places; a column of numbers goes with all of a row.
        if len(values.shape) == len(written.shape) and all(
            mine in (1, other) for mine, other in zip(values.shape, written.shape, strict=True)
        ):
            place = [i if n > 1 else 0 for i, n in zip(index, values.shape, strict=True)]
            lines.append(f"{name}{place} = {float(values[tuple(place)]):.7g}")
        elif values.shape[0] == written.shape[0]:
            lines.append(f"{name}[{index[0]}, :]: {Statistics.of(values[index[0]])}")
        else:
            lines.append(f"{name}: {Statistics.of(values)}")
    return [*lines, *(f"{name} = {number:.7g}" for name, number in instruction.numbers.items())]
