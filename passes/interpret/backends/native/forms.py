"""Forms of instructions: each compiled function implements one form.

A form consists of the operators, data types and kinds of layouts of an instruction. Addresses,
shapes, strides and constants are arguments: a sequence of 64-bit words, which `instructions.py`
writes and `emit/` reads:

    elements of the innermost loop, iterations of the loops around it (outermost first),
    for each operand: number of its base, byte offset, byte stride in each loop
    (innermost last),
    numbers (their bits), loops of NumPy (function and data each), scratch.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from nkijit.dialects.dtypes import DTYPES, Kind
from nkijit.passes.interpret.backends.native.graphs import LOADS, Node
from nkijit.passes.numerics.storage import STORAGE

BLOCK = 2048
"""The number of elements that pass through all operators together, as one block.

They fit into the L1 cache together with scratch.
"""
SPILLED = BLOCK * 8
"""The number of bytes of scratch memory for the values of one node."""

CONVERTED = frozenset(
    name
    for name, dtype in DTYPES.items()
    if dtype.kind is not Kind.packed and name != "float8_e8m0fnu"
)
"""The data types that native code converts to and from float32."""


def size_of(element: str) -> int:
    """Return the size in bytes of a stored element."""
    return STORAGE[element].itemsize


class Inner(Enum):
    """The layout of an operand along the innermost loop."""

    contiguous = "contiguous"
    strided = "strided"
    same = "same"
    """All iterations use the same element."""


@dataclass(frozen=True, slots=True)
class OperandForm:
    """The properties of an operand in a form: its stored data type, and its layout."""

    element: str
    inner: Inner


@dataclass(frozen=True, slots=True)
class Fold:
    """A reduction of a row to one number."""

    loop: int
    """The index of the reducing NumPy loop among the loops that the form calls."""
    first: bool
    """True if the reduction begins with the row's first element; False if with `start`."""
    start: int = -1
    """The index, among the form's numbers, of the initial value of the reduction.

    -1 means the previous value of the result.
    """


@dataclass(frozen=True, slots=True)
class AccumulatorForm:
    """The use of one accumulator register per row; operands are given by their indices."""

    registers: int
    start: int | None
    """The index of the operand that initialises the register; None if no operand does."""
    number: int | None
    """The index of the number that initialises the register; None if no number does."""
    fold: Fold | None
    combine: str | None
    """The operation that adds the reduced row to the register.

    None if the reduction itself begins with the register.
    """
    into: int | None
    negate: bool


@dataclass(frozen=True, slots=True)
class RowForm:
    """An element-wise graph whose results are stored, and can be reduced for each row."""

    rows: int
    """The number of loops over rows."""
    free: int
    """The number of loops inside a row, besides the innermost."""
    operands: tuple[OperandForm, ...]
    nodes: tuple[Node, ...]
    loops: int
    """The number of NumPy loops that the graph calls."""
    numbers: int
    result: int
    """The index of the node whose values are the results."""
    into: int | None
    """The index of the operand that stores the results; None to store no results.

    float32 results are rounded, others store their low bits.
    """
    accumulators: AccumulatorForm | None = None
    reduced: tuple[Fold, int, bool, bool] | None = None
    """The reduction of rows: (fold, written operand, whether to negate, whether to divide).

    The divisor is the last number of the form.
    """


@dataclass(frozen=True, slots=True)
class CopyForm:
    """A copy of stored elements, from operand 0 to operand 1."""

    size: int
    """The size of an element in bytes."""
    outer: int
    """The number of loops around the innermost loop."""
    source: Inner
    into: Inner


@dataclass(frozen=True, slots=True)
class TransposeForm:
    """A transpose of stored elements: operand 0 has (rows, columns), operand 1 is the result."""

    size: int
    source: Inner
    into: Inner


@dataclass(frozen=True, slots=True)
class MatmulForm:
    """A float32 product by NumPy's loop: operand 2 = transposed operand 0 times operand 1."""


NativeForm = RowForm | CopyForm | TransposeForm | MatmulForm


CHEAP = (*LOADS, "number", "literal")
"""Names of nodes that are cheaper to recompute at each use than to store in scratch memory."""


def segments_of(form: RowForm) -> tuple[list[list[int]], dict[int, int]]:
    """Group nodes into segments; number the nodes whose values are stored in scratch memory.

    A segment ends with calls of NumPy loops. Their operands are computed in this segment or in
    earlier ones.
    """
    level: list[int] = []
    for node in form.nodes:
        here = max((level[i] + (form.nodes[i].name == "call") for i in node.inputs), default=0)
        level.append(here)
    nodes = form.nodes
    last = level[form.result] + (nodes[form.result].name == "call")
    segments = [[n for n in range(len(nodes)) if level[n] == at] for at in range(last + 1)]
    spilled: list[int] = []
    for number, node in enumerate(nodes):
        if node.name == "call":
            spilled += [*node.inputs, number]
        else:
            spilled += [
                i for i in node.inputs if level[i] != level[number] and nodes[i].name not in CHEAP
            ]
    if nodes[form.result].name not in CHEAP and level[form.result] != last:
        spilled.append(form.result)
    return segments, {node: place for place, node in enumerate(dict.fromkeys(spilled))}


def scratch_bytes(form: RowForm) -> int:
    """Return the bytes of scratch memory that a form needs, without the row of results."""
    if all(node.name != "call" for node in form.nodes):
        return 0  # all values stay in registers
    return SPILLED * len(segments_of(form)[1])
