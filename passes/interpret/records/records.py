"""What an instruction computes, as data: records between semantics and the backends.

Semantics (`nisa/`) turn an operation into a record, which says what is computed and on which
slots, and not how. A backend (`backends/`) turns a record into a step. What needs to know what will
be computed reads the record: `Plan.records`.

Unless a record says otherwise, operands are read as float32, all arithmetic is float32, and results
are rounded once to the data type of the destination.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from nkijit.dialects.dtypes import DType
from nkijit.passes.interpret.records.environment import Array, Env, OperandTile, Step
from nkijit.passes.interpret.records.machine import Runner

Shape = tuple[int, ...]
Function = Callable[..., object]
"""A function of NumPy arrays, `f(*operands, out)`, that writes `out`."""


# ------------------------------------------------------------------ operands


@dataclass(frozen=True, slots=True)
class Source:
    """An operand that is read: where it is, and how it becomes the values that are used."""

    slot: int
    dtype: DType | None = None
    """The data type that is stored, where values are converted to float32; None: used as stored."""
    reshape: Shape | None = None
    """The shape of the values, where no view of the operand has it."""
    lanes: slice | None = None
    """The rows that are used, of accumulator registers."""
    tile: OperandTile | None = None
    """The tile that the values come from; None for numbers and registers."""
    constant: Any = None
    """The values, where they are the same in every run; they are in the slot, too."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A tile that is written."""

    slot: int
    dtype: DType
    shape: Shape
    """The shape of the values that are written."""
    reshape: Shape | None
    """The shape of what is in the slot, where no view of the tile has `shape`."""
    tile: OperandTile


# ------------------------------------------------------------------ parts of a chain


class Table(Enum):
    """Where the function of an operator's word is found."""

    alu = "alu"
    activation = "activation"
    running = "running"
    """The operator along the free dimension: each result is combined with the one before it."""


@dataclass(frozen=True, slots=True)
class Applied:
    """An operator applied to the results so far: `x op operand`, or `operand op x` in reverse."""

    word: str
    operand: Source | None = None
    reverse: bool = False
    table: Table = Table.alu


class Arithmetic(Enum):
    """What the values of a chain or a reduction are."""

    float32 = "float32"
    bits = "bits"
    """The stored bits, of integers of one width."""
    integers = "integers"
    """Integers of 64 bits, which wrap to the width of the destination."""


@dataclass(frozen=True, slots=True)
class AccumulatorUse:
    """What an instruction does with the accumulator registers of its engine.

    The registers take the float32 results, before these are rounded to the destination.
    """

    registers: Source
    """One float32 for each row of the results."""
    start: Source | float | None
    """What is put into the registers before anything is written; None leaves them as they are."""
    word: str | None
    """The operator that results are added to the registers with; None: they are not."""
    keeps_last: bool = False
    """The registers take the last result of each row instead."""
    into: Destination | None = None
    """Where the registers are written to afterwards."""
    negate: bool = False
    """What is written is negated; the registers keep theirs."""


# ------------------------------------------------------------------ records


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators applied to a tile one after the other, element by element."""

    data: Source
    stages: tuple[Applied, ...]
    into: Destination
    arithmetic: Arithmetic = Arithmetic.float32
    accumulators: AccumulatorUse | None = None


@dataclass(frozen=True, slots=True)
class Computed:
    """A function of whole arrays: what no other record says.

    The first `early` sources are read element by element before `out` is written; `out` may be the
    same array as one of them.
    """

    function: Function
    sources: tuple[Source, ...]
    into: Destination
    early: int
    accumulators: AccumulatorUse | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """Equal data types keep their bits; others go through float32 and are rounded once."""

    source: Source
    into: Destination


@dataclass(frozen=True, slots=True)
class Fill:
    """The same stored values in every run; they broadcast to the tile."""

    values: Array
    into: Destination


@dataclass(frozen=True, slots=True)
class Transpose:
    """Stored elements with their dimensions in another order."""

    source: Source
    axes: tuple[int, ...]
    into: Destination
    valid: int | None = None
    """The slot that says which columns are written (`oob_mode.skip`); None in it: all are."""


@dataclass(frozen=True, slots=True)
class Scaled:
    """An MX operand: packed elements, four to each stored one, times the scale of their group."""

    data: Source
    scale: Source
    element: str
    """The data type of the packed elements, float8 or float4."""
    partitions: int
    free_size: int
    """Stored elements per partition."""


@dataclass(frozen=True, slots=True)
class Matmul:
    """`stationary` transposed times `moving`, over partitions (and over packed elements, in MX)."""

    stationary: Source | Scaled
    moving: Source | Scaled
    into: Destination
    added: Array | bool
    """Where the product is added to what `into` holds: everywhere, nowhere, or a mask."""
    previous: Source | None
    """What `into` holds; None where nothing is added."""


@dataclass(frozen=True, slots=True)
class Reduce:
    """The last dimension of the source combined with one operator."""

    source: Source
    word: str
    into: Destination
    arithmetic: Arithmetic = Arithmetic.float32
    over_partitions: bool = False
    """The first dimension is combined instead."""
    negate: bool = False
    divisor: int = 1
    """What results are divided by (averages)."""


@dataclass(frozen=True, slots=True)
class Gather:
    """Stored elements of each partition, by the numbers in another tile."""

    data: Source
    indices: Source
    into: Destination
    check: Callable[[Array], None]
    """Refuses numbers out of range."""


@dataclass(frozen=True, slots=True)
class MoveRows:
    """Stored rows of the source into rows of the destination: `rows[to]` is taken from."""

    source: Source
    rows: Mapping[int, int]
    into: Destination


@dataclass(frozen=True, slots=True)
class Opaque:
    """A step of which nothing more is known."""

    step: Step


@dataclass(frozen=True, slots=True)
class Meets:
    """An instruction that waits for other cores or ranks: `drive` yields the meeting."""

    drive: Callable[[Env], Runner]


Record = (
    Chain
    | Computed
    | Copy
    | Fill
    | Transpose
    | Matmul
    | Reduce
    | Gather
    | MoveRows
    | Opaque
    | Meets
)
