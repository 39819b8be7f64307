"""Forms of instructions: what one compiled function is made for.

A form says which operators, data types and kinds of layouts an instruction has. Addresses, shapes,
strides and constants are arguments, in a row of 64-bit words that `forms` lays out and
`emit` reads:

    elements of the innermost loop, iterations of the loops around it (outermost first),
    for each operand: number of its base, byte offset, bytes from one iteration to the next of
    each loop (the innermost last),
    numbers (the bits of a float32 each), loops of NumPy (function and data each), scratch.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from nkijit.passes.interpret.backends.native.graphs import Node


class Inner(Enum):
    """How an operand moves along the innermost loop."""

    contiguous = "contiguous"
    strided = "strided"
    same = "same"
    """It is one element for all of it."""


@dataclass(frozen=True, slots=True)
class OperandForm:
    """An operand: the name of how its elements are stored, and its layout."""

    element: str
    inner: Inner


@dataclass(frozen=True, slots=True)
class Fold:
    """A row combined to one number."""

    loop: int
    """The place of the loop that combines, among the loops that are called."""
    first: bool
    """The first element is where it begins; else there is a number for that."""
    start: int = -1
    """The place of that number."""


@dataclass(frozen=True, slots=True)
class AccumulatorForm:
    """What happens with an accumulator register for each row; operands by number."""

    registers: int
    start: int | None
    """What is put into it first: an operand."""
    number: int | None
    """Or a number, by place."""
    fold: Fold | None
    combine: str | None
    """How what a row is combined to meets the register: 'add', …; None: the fold begins with it."""
    into: int | None
    negate: bool


@dataclass(frozen=True, slots=True)
class RowForm:
    """A graph over elements, stored, and combined for each row."""

    rows: int
    """Loops whose iterations are rows."""
    free: int
    """Loops inside a row, but for the innermost."""
    operands: tuple[OperandForm, ...]
    nodes: tuple[Node, ...]
    loops: int
    """How many loops of NumPy it calls."""
    numbers: int
    result: int
    """The node of the results, float32."""
    into: int | None
    """The operand that they are rounded into."""
    accumulators: AccumulatorForm | None = None
    reduced: tuple[Fold, int, bool, bool] | None = None
    """A reduction of each row: how, into which operand, negated, divided by the last number."""


@dataclass(frozen=True, slots=True)
class CopyForm:
    """Stored elements as they are; operand 0 into operand 1."""

    size: int
    """Bytes of an element."""
    outer: int
    """Loops around the innermost."""
    source: Inner
    into: Inner


@dataclass(frozen=True, slots=True)
class TransposeForm:
    """Stored elements of rows into columns; operand 0, (rows, columns), into operand 1."""

    size: int
    source: Inner
    into: Inner


@dataclass(frozen=True, slots=True)
class MatmulForm:
    """Operand 0 transposed times operand 1 into operand 2, all float32, by NumPy's own loop."""


Form = RowForm | CopyForm | TransposeForm | MatmulForm
