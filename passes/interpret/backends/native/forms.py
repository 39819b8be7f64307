"""Forms of instructions: what one compiled function is made for.

A form says which operators, data types and kinds of layouts an instruction has. Addresses, shapes,
strides and constants are arguments, in a row of 64-bit words that `forms` lays out and
`emit/` reads:

    elements of the innermost loop, iterations of the loops around it (outermost first),
    for each operand: number of its base, byte offset, bytes from one iteration to the next of
    each loop (the innermost last),
    numbers (their bits), loops of NumPy (function and data each), scratch.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from nkijit.dialects.dtypes import DTYPES, Kind
from nkijit.passes.interpret.backends.native.graphs import LOADS, Node
from nkijit.passes.numerics.storage import STORAGE

BLOCK = 2048
"""Elements that go through all operators together: what the first cache holds with its scratch."""
SPILLED = BLOCK * 8
"""Bytes of the scratch of one node."""

CONVERTED = frozenset(
    name
    for name, dtype in DTYPES.items()
    if dtype.kind is not Kind.packed and name != "float8_e8m0fnu"
)
"""The data types whose elements native code makes float32 of, and back."""


def size_of(element: str) -> int:
    """Bytes of a stored element."""
    return STORAGE[element].itemsize


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
    """The node of the results."""
    into: int | None
    """The operand that they are stored into: float32 rounded, of others the low bits."""
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


NativeForm = RowForm | CopyForm | TransposeForm | MatmulForm


CHEAP = (*LOADS, "number", "literal")
"""Nodes that are computed again rather than kept."""


def segments_of(form: RowForm) -> tuple[list[list[int]], dict[int, int]]:
    """Nodes by the calls between them, and those that live in scratch, numbered.

    A segment ends with the calls of which it has computed the operands.
    """
    level: list[int] = []
    for node in form.nodes:
        here = max((level[i] + (form.nodes[i].name == "call") for i in node.inputs), default=0)
        level.append(here)
    nodes = form.nodes
    last = level[form.result] + (nodes[form.result].name == "call")
    segments = [[n for n in range(len(nodes)) if level[n] == at] for at in range(last + 1)]
    kept: list[int] = []
    for number, node in enumerate(nodes):
        if node.name == "call":
            kept += [*node.inputs, number]
        else:
            kept += [
                i for i in node.inputs if level[i] != level[number] and nodes[i].name not in CHEAP
            ]
    if nodes[form.result].name not in CHEAP and level[form.result] != last:
        kept.append(form.result)
    return segments, {node: place for place, node in enumerate(dict.fromkeys(kept))}


def scratch_bytes(form: RowForm) -> int:
    """Bytes of scratch that a form takes, but for a row."""
    if all(node.name != "call" for node in form.nodes):
        return 0  # all of them stay in registers
    return SPILLED * len(segments_of(form)[1])
