"""The computations of instructions as data: records, between semantics and backends.

Semantics (`nisa/`) turn an operation into a record. It describes the computation and its slots, but
not the implementation. A backend (`backends/`) turns a record into a step. Other users of records
read `Plan.records`.

Unless a record says otherwise, operands are read as float32, arithmetic is float32, and results are
rounded once to the data type of the destination.
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
    """An operand that is read: its slot, and the conversion to the values that are used."""

    slot: int
    dtype: DType | None = None
    """The stored data type, if values are converted to float32; None to use them as stored."""
    reshape: Shape | None = None
    """The shape of the values, if no view of the operand has it."""
    lanes: slice | None = None
    """The rows that are used, for accumulator registers."""
    tile: OperandTile | None = None
    """The tile that contains the values; None for numbers and registers."""
    constant: Any = None
    """The values, if they are the same in every run; the slot holds them too."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A tile that is written."""

    slot: int
    dtype: DType
    shape: Shape
    """The shape of the written values."""
    reshape: Shape | None
    """The shape of the array in the slot, if no view of the tile has `shape`."""
    tile: OperandTile


# ------------------------------------------------------------------ parts of a chain


class Table(Enum):
    """The table of the function that an operator's name refers to."""

    alu = "alu"
    activation = "activation"
    running = "running"
    """The operator along the free dimension: each result is combined with the previous one."""


@dataclass(frozen=True, slots=True)
class Applied:
    """An operator applied to the results so far: `x op operand`, or `operand op x` in reverse."""

    word: str
    operand: Source | None = None
    reverse: bool = False
    table: Table = Table.alu


class Arithmetic(Enum):
    """The type of the values in a chain or a reduction."""

    float32 = "float32"
    bits = "bits"
    """The stored bits, as integers of one width."""
    integers = "integers"
    """64-bit integers, which wrap to the width of the destination."""


@dataclass(frozen=True, slots=True)
class AccumulatorUse:
    """An instruction's use of its engine's accumulator registers.

    The registers receive the float32 results, before rounding to the destination's data type.
    """

    registers: Source
    """One float32 for each row of the results."""
    start: Source | float | None
    """The value that the registers are set to before the first write; None keeps their contents."""
    word: str | None
    """The operator that adds results to the registers; None to add none."""
    keeps_last: bool = False
    """The registers receive the last result of each row instead."""
    into: Destination | None = None
    """The tile that the registers are written to afterwards."""
    negate: bool = False
    """The written values are negated; the registers are not."""


# ------------------------------------------------------------------ records


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators applied to a tile in sequence, element by element."""

    data: Source
    stages: tuple[Applied, ...]
    into: Destination
    arithmetic: Arithmetic = Arithmetic.float32
    accumulators: AccumulatorUse | None = None


@dataclass(frozen=True, slots=True)
class Computed:
    """A function of whole arrays, for computations that no other record describes.

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
    """A copy. Equal data types keep their bits; others go through float32 and are rounded once."""

    source: Source
    into: Destination


@dataclass(frozen=True, slots=True)
class Fill:
    """The same stored values in every run; they broadcast to the tile."""

    values: Array
    into: Destination


@dataclass(frozen=True, slots=True)
class Transpose:
    """Stored elements with permuted dimensions."""

    source: Source
    axes: tuple[int, ...]
    into: Destination
    valid: int | None = None
    """The slot with a mask of the columns to write (`oob_mode.skip`); None in it means all."""


@dataclass(frozen=True, slots=True)
class Scaled:
    """An MX operand: packed elements, four per stored one, times the scale of their group."""

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
    """Where the product is added to the contents of `into`: everywhere, nowhere, or a mask."""
    previous: Source | None
    """The contents of `into`; None if nothing is added."""


@dataclass(frozen=True, slots=True)
class Reduce:
    """A reduction of the source's last dimension with one operator."""

    source: Source
    word: str
    into: Destination
    arithmetic: Arithmetic = Arithmetic.float32
    over_partitions: bool = False
    """Reduce the first dimension instead."""
    negate: bool = False
    divisor: int = 1
    """The divisor of the results, for averages."""


@dataclass(frozen=True, slots=True)
class Gather:
    """Stored elements of each partition, selected by the indices in another tile."""

    data: Source
    indices: Source
    into: Destination
    check: Callable[[Array], None]
    """Raises an error for indices out of range."""


@dataclass(frozen=True, slots=True)
class MoveRows:
    """Stored rows of the source moved to rows of the destination; `rows` maps `to` to `from`."""

    source: Source
    rows: Mapping[int, int]
    into: Destination


@dataclass(frozen=True, slots=True)
class Opaque:
    """A step without further description."""

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
