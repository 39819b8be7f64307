"""The items of a recording: instructions, their operands, and tiles.

Items are created, and their values computed, when they are accessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.tiles import info_of
from nkijit.passes.diagnostics.places import Position, positions
from nkijit.passes.diagnostics.shown import html_of_text
from nkijit.passes.values.heatmap import figure_of
from nkijit.passes.values.instructions import (
    Array,
    LoopIndices,
    OperandShape,
    Statistics,
    TracedIndices,
    authors_name,
    loops_text,
    numbers_of,
    place_of,
    short_place,
)

_T = TypeVar("_T")


class RecordError(ValueError):
    """A run cannot be recorded, or a recording does not have a requested item."""


class Items(Sequence[_T]):
    """A sequence that creates its items when they are accessed."""

    def __init__(self, name: str, count: int, make: Callable[[int], _T]):
        """Create a sequence. `name` describes the items in `repr`; `make(number)` creates one."""
        self._name, self._count, self._make = name, count, make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> list[_T]: ...
    def __getitem__(self, index: int | slice) -> _T | list[_T]:
        if isinstance(index, slice):
            return [self._make(number) for number in range(self._count)[index]]
        if not -self._count <= index < self._count:
            raise IndexError(f"{self._name}: there are {self._count}, no number {index}")
        return self._make(index % self._count)

    def __repr__(self) -> str:
        return f"<{self._count} {self._name}>"

    def __str__(self) -> str:
        shown = [f"{self!r}", *(f"  [{n}] {self._make(n)!r}" for n in range(min(self._count, 20)))]
        return "\n".join([*shown, *["  ..."] * (self._count > 20)])


@dataclass(frozen=True, slots=True)
class RecordedForm:
    """The properties that all executions of an operation share."""

    op: Operation
    operands: tuple[OperandShape, ...]
    indices: TracedIndices
    """The loops in the user's source around the operation, from its trace."""


@dataclass(frozen=True, slots=True)
class StepValues:
    """The values of an instruction's operands before and after it, in order."""

    before: tuple[Array, ...]
    after: tuple[Array | None, ...]
    """The values after the instruction; None for operands that are only read."""

    @staticmethod
    def of(instruction: RecordedInstruction) -> StepValues:
        """Return the values of a recorded instruction."""
        operands = instruction.operands
        before = tuple(operand.before for operand in operands)
        after = tuple(operand.after if operand.is_written else None for operand in operands)
        return StepValues(before, after)

    @property
    def size(self) -> int:
        """The number of bytes of all arrays."""
        return sum(a.nbytes for a in (*self.before, *self.after) if a is not None)


class RecordedOperand:
    """An operand of an instruction that has run; it may be a part of a tensor."""

    __slots__ = ("_instruction", "_number", "_shape")

    def __init__(self, instruction: RecordedInstruction, number: int, shape: OperandShape):
        self._instruction, self._number, self._shape = instruction, number, shape

    @property
    def name(self) -> str:
        """The operand's name in the signature of the instruction."""
        return self._shape.name

    @property
    def tile(self) -> str:
        """The name that the kernel gives to the operand's tensor."""
        return self._shape.tile

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the part of the tensor that the instruction touches."""
        return self._shape.shape

    @property
    def dtype(self) -> str:
        """The public name of the data type of the stored operand."""
        return self._shape.dtype

    @property
    def is_read(self) -> bool:
        """True if the instruction reads the operand."""
        return self._shape.is_read

    @property
    def is_written(self) -> bool:
        """True if the instruction writes the operand."""
        return self._shape.is_written

    @property
    def value(self) -> SSAValue:
        """The operand as a value of the IR."""
        return self._shape.value

    @property
    def before(self) -> Array:
        """The operand's contents before the instruction.

        Uninitialised elements are NaN; in integer types they are 4.
        """
        return self._instruction._values().before[self._number]  # pyright: ignore[reportPrivateUsage]

    @property
    def after(self) -> Array:
        """The operand's contents after the instruction."""
        values = self._instruction._values()  # pyright: ignore[reportPrivateUsage]
        after = values.after[self._number]
        return values.before[self._number] if after is None else after

    def __repr__(self) -> str:
        arrow = {(True, True): "<->", (False, True): "<-"}.get((self.is_read, self.is_written))
        return f"<{self.name} {arrow or '->'} {self._shape}>"


class RecordedInstruction:
    """An instruction of a run, with the values that it read and wrote."""

    __slots__ = ("_form", "_loops", "_values_of", "number")

    def __init__(
        self,
        number: int,
        form: RecordedForm,
        loops: LoopIndices,
        values_of: Callable[[int], StepValues],
    ):
        """Create instruction `number`. `values_of(number)` computes its operands' values."""
        self._form, self._loops, self._values_of = form, loops, values_of
        self.number = number
        """The instruction's position in the run, from 0."""

    @property
    def op(self) -> str:
        """The operation's name, e.g. `nisa.activation`."""
        return self._form.op.name

    @property
    def operation(self) -> Operation:
        """The operation of the IR; all iterations of a loop on the device share it."""
        return self._form.op

    @property
    def location(self) -> Position | None:
        """The call in the user's source: file, line and column; None if unknown."""
        return place_of(self._form.op)

    @property
    def calls(self) -> list[Position]:
        """The chain of calls in the kernel that led to the instruction, innermost first."""
        return positions(self._form.op.location)

    @property
    def loops(self) -> dict[str, int]:
        """The values of the variables of surrounding loops, by name.

        Includes Python loops only for a kernel that was recorded from its source.
        """
        return dict(self._loops)

    @property
    def operands(self) -> tuple[RecordedOperand, ...]:
        """The tiles that the instruction touches, written tiles first."""
        return tuple(RecordedOperand(self, n, shape) for n, shape in enumerate(self._form.operands))

    @property
    def numbers(self) -> dict[str, float]:
        """The constant numbers among the instruction's arguments, by name."""
        return numbers_of(self._form.op)

    def __getitem__(self, name: str) -> RecordedOperand:
        """Return an operand by its name in the signature. Raises KeyError for an unknown name."""
        for operand in self.operands:
            if operand.name == name:
                return operand
        known = ", ".join(operand.name for operand in self.operands)
        raise KeyError(f"{self.op} has no tile '{name}' here; it has {known}")

    @property
    def result(self) -> Array:
        """The first destination's contents after the instruction. Raises RecordError if none."""
        return self._written().after

    @property
    def before(self) -> Array:
        """The first destination's contents before the instruction. Raises RecordError if none."""
        return self._written().before

    @property
    def results(self) -> dict[str, Array]:
        """The contents of all destinations after the instruction, by operand name."""
        return {operand.name: operand.after for operand in self.operands if operand.is_written}

    def _written(self) -> RecordedOperand:
        for operand in self.operands:
            if operand.is_written:
                return operand
        raise RecordError(f"{self!r} writes no tile")

    def _values(self) -> StepValues:
        return self._values_of(self.number)

    def __repr__(self) -> str:
        place = short_place(self.location)
        loops = f" {loops_text(self._loops)}" if self._loops else ""
        writes = ", ".join(str(o) for o in self._form.operands if o.is_written)
        reads = ", ".join(
            dict.fromkeys(o.tile for o in self._form.operands if not o.is_written and o.tile)
        )
        what = " <- ".join(filter(None, [writes, reads]))
        return f"<#{self.number} {self.op} {place}{loops} {what}>"

    def __str__(self) -> str:
        loops = f", {loops_text(self._loops)}" if self._loops else ""
        lines = [f"#{self.number} {self.op} at {short_place(self.location)}{loops}"]
        line = self.location.source_line().strip() if self.location is not None else ""
        lines += [f"  {line}"] * bool(line)
        for operand in self.operands:
            verb = "wrote" if operand.is_written else "read "
            shape = operand._shape  # pyright: ignore[reportPrivateUsage]
            statistics = Statistics.of(operand.after if operand.is_written else operand.before)
            lines.append(f"  {verb} {operand.name} = {shape}: {statistics}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        figures = [
            figure_of(
                f"{'wrote' if operand.is_written else 'read'} {operand.name} = {operand.tile}",
                operand.after if operand.is_written else operand.before,
            )
            for operand in self.operands
        ]
        return html_of_text(str(self)) + "".join(figures)


class RecordedTile:
    """An instance of a variable: the contents of a tensor after a group of consecutive writes.

    A variable has at least one instance for each tensor that was allocated with the variable's
    name. A tensor that is written in a loop on the device has one instance for each iteration, one
    instance for the writes before the loop, and one instance for the writes after the loop.
    Instances are in execution order. NumPy functions accept an instance as an array.
    """

    __slots__ = ("_base", "_contents_of", "_instructions", "_numbers", "loops", "name")

    def __init__(
        self,
        base: SSAValue,
        numbers: Sequence[int],
        loops: LoopIndices,
        instructions: Sequence[RecordedInstruction],
        contents_of: Callable[[SSAValue, int], Array],
    ):
        """Create an instance.

        Args:
            base: the tensor in the IR.
            numbers: the numbers of the instructions that wrote the instance.
            loops: the loops around the allocation, and around the writes down to the innermost
                loop on the device.
            instructions: all instructions of the run.
            contents_of: computes the contents of a tensor after the instruction with a number.
        """
        self._base, self._numbers = base, numbers
        self._instructions, self._contents_of = instructions, contents_of
        self.name = authors_name(base)
        self.loops = dict(loops)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole tensor."""
        return info_of(self._base).shape

    @property
    def dtype(self) -> str:
        """The public name of the tensor's data type."""
        return info_of(self._base).dtype.name

    @property
    def writes(self) -> list[RecordedInstruction]:
        """The instructions that wrote the instance, completely or partly."""
        return [self._instructions[number] for number in self._numbers]

    @property
    def value(self) -> Array:
        """The whole tensor after the last write; uninitialised elements are NaN (integers: 4)."""
        return self._contents_of(self._base, self._numbers[-1])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.value, dtype=dtype)

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        last = self.writes[-1]
        loops = f" {loops_text(tuple(self.loops.items()))}" if self.loops else ""
        return f"<{self.name}: {shape} {self.dtype}{loops} as of #{last.number} {last.op} {short_place(last.location)}>"  # noqa: E501

    def __str__(self) -> str:
        return f"{self!r}\n{self.value}"

    def _repr_html_(self) -> str:
        return figure_of(repr(self)[1:-1], self.value)
