"""Records: the computations of instructions as data, produced by semantics and used by backends.

Semantics (`nisa/`) turn an operation into a record, which describes the computation and the slots
of its operands, but not the implementation. A backend (`backends/`) turns a record into a step: a
function on the environment of a run. Other code reads records from `Plan.records`.

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
    """An operand that is read: a slot of the environment, and the conversion to values."""

    slot: int
    dtype: DType | None = None
    """The stored data type, if values are converted to float32; None to use them as stored."""
    reshape: Shape | None = None
    """The shape to which the array in the slot is reshaped during a run.

    None if the slot holds a NumPy view that already has this shape.
    """
    lanes: slice | None = None
    """The rows of accumulator registers that are used; None for all."""
    tile: OperandTile | None = None
    """The tile that contains the values; None for numbers and registers."""
    constant: Any = None
    """The values, if they are equal in every run; the slot contains these as well."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A tile that is written: a slot of the environment, and the conversion of results."""

    slot: int
    dtype: DType
    shape: Shape
    """The shape of the written values."""
    reshape: Shape | None
    """The shape of the slot's array, to which results are reshaped before they are stored.

    None if the slot holds a NumPy view of the shape `shape`.
    """
    tile: OperandTile


# ------------------------------------------------------------------ parts of a chain


class Table(Enum):
    """The table that contains the function of an operator."""

    alu = "alu"
    activation = "activation"
    running = "running"
    """A scan along the free dimension: each result is combined with the previous result."""


@dataclass(frozen=True, slots=True)
class Applied:
    """An operator that a chain applies to its current values x: `x op operand`, or reversed."""

    word: str
    operand: Source | None = None
    reverse: bool = False
    table: Table = Table.alu


class Arithmetic(Enum):
    """The type of numbers that a chain or a reduction computes with."""

    float32 = "float32"
    bits = "bits"
    """The stored bits, as integers of equal width."""
    integers = "integers"
    """64-bit integers, which wrap to the width of the destination."""


@dataclass(frozen=True, slots=True)
class AccumulatorUse:
    """An instruction's use of its engine's accumulator registers.

    The registers receive the float32 results, before rounding to the destination's data type.
    """

    registers: Source
    """One float32 register for each row of the results."""
    start: Source | float | None
    """The value to which the registers are set before the first write; None keeps them."""
    word: str | None
    """The operator that adds results to the registers; None if nothing is added."""
    keeps_last: bool = False
    """True if the registers receive the last result of each row instead of a reduction."""
    into: Destination | None = None
    """The tile to which the registers are written afterwards; None for no tile."""
    negate: bool = False
    """True to negate the values written to `into`; the registers are not negated."""


# ------------------------------------------------------------------ records


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators applied to a tile in sequence, element by element."""

    data: Source
    stages: tuple[Applied, ...]
    into: Destination
    arithmetic: Arithmetic = Arithmetic.float32
    accumulators: AccumulatorUse | None = None


class Reach(Enum):
    """The elements of each operand that an element of a result depends on."""

    elements = "elements"
    """The element at the same place; operands are broadcast."""
    columns = "columns"
    """The element at the same place, and the number of its column."""
    prefixes = "prefixes"
    """The row up to the same place. The last operand has one element per row, the start."""
    rows = "rows"
    """The whole row, and the place in the row."""
    tiles = "tiles"
    """All elements, and the place."""


@dataclass(frozen=True, slots=True)
class Constructor:
    """A function as a constructor of terms: equal names are equal functions of the operands."""

    name: tuple[object, ...]
    reach: Reach


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
    constructor: Constructor | None = None
    """The function as a constructor of terms; None if terms cannot contain it."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy: of the bits if both data types are equal, else of float32 values, rounded once."""

    source: Source
    into: Destination


@dataclass(frozen=True, slots=True)
class Fill:
    """A fill of a tile with constant stored values, which are broadcast to the tile's shape."""

    values: Array
    into: Destination


@dataclass(frozen=True, slots=True)
class Transpose:
    """A copy of stored elements with permuted dimensions."""

    source: Source
    axes: tuple[int, ...]
    into: Destination
    valid: int | None = None
    """The slot of a mask of the columns to write (`oob_mode.skip`).

    The slot holds None if all columns are written.
    """


@dataclass(frozen=True, slots=True)
class Scaled:
    """An MX operand: four packed elements in each stored element, times their group's scale."""

    data: Source
    scale: Source
    element: str
    """The data type of the packed elements, float8 or float4."""
    partitions: int
    free_size: int
    """The number of stored elements per partition."""


@dataclass(frozen=True, slots=True)
class Matmul:
    """A product: `stationary` transposed times `moving`, summed over partitions.

    In MX, packed elements are summed as well.
    """

    stationary: Source | Scaled
    moving: Source | Scaled
    into: Destination
    added: Array | bool
    """Where the product is added to the contents of `into`: True (everywhere), False, or a mask."""
    previous: Source | None
    """The previous contents of `into`; None if the product is added to no element."""


@dataclass(frozen=True, slots=True)
class Reduce:
    """A reduction of the source's last dimension with one operator."""

    source: Source
    word: str
    into: Destination
    arithmetic: Arithmetic = Arithmetic.float32
    over_partitions: bool = False
    """True to reduce the first dimension (the partitions) instead."""
    negate: bool = False
    divisor: int = 1
    """The number by which results are divided, for averages."""


@dataclass(frozen=True, slots=True)
class Gather:
    """A gather of stored elements in each partition, at the indices in another tile."""

    data: Source
    indices: Source
    into: Destination
    check: Callable[[Array], None]
    """Raises an error for indices that are out of range."""


@dataclass(frozen=True, slots=True)
class MoveRows:
    """A move of stored rows; `rows` has the row of the source for each row of the destination."""

    source: Source
    rows: Mapping[int, int]
    into: Destination


# ------------------------------------------------------------------ opaque computations


@dataclass(frozen=True, slots=True)
class Declared:
    """The operands of an opaque computation, of which only the constructor of terms is known."""

    constructor: Constructor
    sources: tuple[Source, ...]
    into: tuple[Destination, ...]
    """The tiles that are written; each contains different functions of the same operands."""
    written: tuple[Array | None, ...] = ()
    """For each tile, a mask of the elements that are written; None for all, also if omitted."""


@dataclass(frozen=True, slots=True)
class OfRegister:
    """A function of a register and of one integer per element."""

    name: tuple[object, ...]
    """Functions with equal names are equal."""
    register: Callable[[Env], int]
    numbers: Array


@dataclass(frozen=True, slots=True)
class Generated:
    """Stored values that depend on one register alone."""

    values: Callable[[Env], Array]
    of: OfRegister
    """The same values as a function."""
    into: Destination


@dataclass(frozen=True, slots=True)
class Chosen:
    """A copy of a tile in which some elements have one value; a register may decide which."""

    source: Source
    on_false: Callable[[Env], Array]
    """Returns the mask of the elements that have the value `fill`."""
    of: OfRegister | None
    """The same mask as a function; None if it does not depend on a register."""
    fill: float
    into: Destination


@dataclass(frozen=True, slots=True)
class Selected:
    """Rows of `stationary`, selected by the columns of `moving`, which contain a single 1."""

    stationary: Source
    moving: Source
    into: Destination


@dataclass(frozen=True, slots=True)
class Drawn:
    """Random values of the generators of an engine, which are in a state between draws."""

    constructor: Constructor
    state: int
    """The slot of the generators' state."""
    lanes: slice
    """The generators, one for each row of the results."""
    sources: tuple[Source, ...]
    into: Destination | None
    """The tile that the results are written to; None if the state is set from `sources`."""
    advances: bool = True
    """False if the generators keep their state."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A register that is loaded from an element of a tile."""

    source: Source
    register: int
    """The slot of the register."""
    convert: Callable[[Array], int]
    """Converts the stored element."""


@dataclass(frozen=True, slots=True)
class Calculated:
    """A register that is computed from two registers: an operator on 32-bit integers."""

    word: str
    operands: tuple[Callable[[Env], int], Callable[[Env], int]]
    register: int


class OnRegisters(Enum):
    """The steps that at most copy registers."""

    only = "only"


Description = Declared | Generated | Chosen | Selected | Drawn | Loaded | Calculated | OnRegisters
"""The operands and results of an opaque computation."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """A computation that is given as a step; `description` has its operands, if known."""

    step: Step
    description: Description | None = None


@dataclass(frozen=True, slots=True)
class Meets:
    """An instruction that waits for other cores or ranks; `drive` yields its `Meeting`."""

    drive: Callable[[Env], Runner]
    moves: bool = False
    """True if `drive` only copies stored elements between tiles of equal data types."""


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
