"""The naive implementation of instructions, one Python number at a time: the documents'
pseudo-code.

Functions here have the names and parameters of `nki.isa`; operators and commands are their words.
Tiles arrive as `Operand`s, read and written partition by partition, element by element. An
instruction reads all its inputs before it writes. Arithmetic is `oracle`'s; nothing of `nkijit` is
used.

Every value is a pair of `Ends`: the lowest and the highest correct number. They are the same object
if there is one correct result. They differ for results known within a bound (activation functions,
`power`, sums), and if the documents leave the sign of a zero open. An operator works on the ends,
so a value known within a bound must not be an input of an operator that is not monotone.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, product
from typing import Any

import numpy as np
import numpy.typing as npt
from support import oracle
from support.oracle import f32, round_to

Array = npt.NDArray[Any]
Ends = tuple[float, float]
Rows = list[list[Ends]]
"""Partition by partition, element by element."""

EPSILON = 2.0**-23
"""Relative spacing of float32."""

ULPS = 4
"""How far an activation function or a power may be off, in units in the last place of float32."""

PACKED_TYPES = {
    "float8_e5m2_x4": np.dtype("u4"),
    "float8_e4m3fn_x4": np.dtype("u4"),
    "float4_e2m1fn_x4": np.dtype("u2"),
}
STORAGE = oracle.NUMPY_TYPES | PACKED_TYPES
"""The NumPy type that stores each data type."""

LANES = 128
UNWRITTEN_INTEGER = 4


def exactly(value: float) -> Ends:
    """The one right answer."""
    return (value, value)


EITHER_ZERO = (-0.0, 0.0)
"""Where the documents leave the sign of a zero open. Equal to any pair of zeros."""


def hull(values: Iterable[float]) -> Ends:
    """The ends of everything that is right, which these values are or enclose."""
    found = sorted(values, key=lambda value: (value, math.copysign(1.0, value)))
    return (found[0], found[-1])


def between(low: float, high: float) -> Ends:
    """Both limits rounded to float32."""
    return (f32(low), f32(high))


def near(value: float) -> Ends:
    """The float32 numbers within `ULPS` units in the last place of a number."""
    if not math.isfinite(value):
        return exactly(value)
    if value == 0:
        return EITHER_ZERO
    unit = math.ldexp(1.0, max(math.frexp(value)[1] - 1, -126) - 23)
    return between(
        math.ceil(value / unit - ULPS) * unit,
        math.floor(value / unit + ULPS) * unit,
    )


class UndecidedError(Exception):
    """Too little is known about a value to determine the result."""


def is_known(ends: Ends) -> bool:
    """Return whether the ends are one number, with any sign of zero, or NaN."""
    low, high = ends
    return low == high or (low != low and high != high)


def check_decided(op: str, operands: Iterable[Ends]) -> None:
    """An operator that is not monotone takes no value that is known within a bound only."""
    for ends in operands:
        monotone = op in MONOTONE or (op in UNARY and (min(ends) > 0 or max(ends) < 0))
        if not is_known(ends) and (not monotone or any(end != end for end in ends)):
            raise UndecidedError(f"{op} of {ends}")


def lifted(function: Callable[..., float], *operands: Ends) -> Ends:
    """A function of numbers, on the ends of its operands."""
    if all(low is high for low, high in operands):
        return exactly(function(*(low for low, _ in operands)))
    results = [function(*numbers) for numbers in product(*operands)]
    if 0 < sum(result != result for result in results) < len(results):
        raise UndecidedError(f"NaN or not: {operands}")
    return hull(results)


# -- tiles ----------------------------------------------------------------------------------------


@dataclass
class Contents:
    """A tensor of the kernel: the ends of the value of each element, as stored."""

    dtype: str
    buffer: str
    low: Array
    high: Array
    by_matmul: Array
    """Which elements a matmul has written."""

    @classmethod
    def of(cls, dtype: str, buffer: str, shape: tuple[int, ...], data: Array | None) -> Contents:
        """Return contents with `data`, or those of unwritten memory."""
        if data is None:
            number = UNWRITTEN_INTEGER if STORAGE[dtype].kind in "iu" else math.nan
            data = np.full(shape, number, STORAGE[dtype])
        return cls(dtype, buffer, data.copy(), data.copy(), np.zeros(shape, np.bool_))


@dataclass
class Operand:
    """A view of a tensor: arrays that share the memory of its `Contents`."""

    dtype: str
    buffer: str
    low: Array
    high: Array
    by_matmul: Array
    partitions: Array
    """The partition of each element."""

    @property
    def shape(self) -> tuple[int, int]:
        """Partitions, and elements in each of them."""
        return (self.low.shape[0], self.low[0].size)

    @property
    def lanes(self) -> list[int]:
        """The partition that each row is in."""
        return [int(row.flat[0]) for row in self.partitions]

    def integers(self) -> list[list[int]]:
        """The stored integers, or bit patterns of packed elements."""
        assert (self.low == self.high).all()
        return [[int(value) for value in row.flat] for row in self.low]

    def rows(self) -> Rows:
        """The elements as float32, the type of the engines' arithmetic."""
        return [
            [self._ends(*bits) for bits in zip(low.flat, high.flat, strict=True)]
            for low, high in zip(_bits(self.low), _bits(self.high), strict=True)
        ]

    def column(self) -> list[Ends]:
        """The one element of each partition."""
        return [row[0] for row in self.rows()]

    def _ends(self, low: int, high: int) -> Ends:
        first = f32(float(oracle.decode(self.dtype, int(low))))
        if low == high:
            return exactly(first)
        return (first, f32(float(oracle.decode(self.dtype, int(high)))))

    def write(self, rows: Sequence[Sequence[Ends]]) -> None:
        """Round every value once and store it."""
        self.write_stored([[self._rounded(*ends) for ends in row] for row in rows])

    def _rounded(self, low: float, high: float) -> Ends:
        if self.dtype == "bool_" and low < 0 < high:
            return (0, 1)
        return (round_to(self.dtype, low), round_to(self.dtype, high))

    def write_stored(self, rows: Sequence[Sequence[Any]]) -> None:
        """Store values, or pairs of ends, that the data type can hold as they are."""
        for at, row in enumerate(rows):
            for index, value in zip(np.ndindex(self.low.shape[1:]), row, strict=True):
                low, high = value if isinstance(value, tuple) else (value, value)
                self.low[(at, *index)] = low
                self.high[(at, *index)] = high

    def copy_bits(self, source: Operand) -> None:
        """Store the bits of as many elements, in row-major order."""
        low, high = source.low.copy(), source.high.copy()
        self.low[...] = low.reshape(self.low.shape)
        self.high[...] = high.reshape(self.high.shape)


def _bits(array: Array) -> Array:
    return array.view(f"u{array.dtype.itemsize}")


Number = float | int
ColumnOrNumber = Operand | Number


def column_of(value: ColumnOrNumber, partitions: int) -> list[Ends]:
    """An operand that is broadcast along the free dimensions: a number for each partition."""
    if isinstance(value, Operand):
        return value.column()
    return [exactly(f32(float(value)))] * partitions


# -- operators ------------------------------------------------------------------------------------

BITVEC = ("invert", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
UNARY = ("abs", "square", "relu", "rsqrt", "reciprocal")
INEXACT_OPERATORS = ("power", "rsqrt")
MONOTONE = (
    "add", "subtract", "multiply", "maximum", "minimum", "greater", "greater_equal", "less",
    "less_equal", "relu", "copy", "exp", "log", "sqrt", "tanh", "sigmoid", "erf", "arctan",
    "softplus", "sign",
)  # fmt: skip
"""Operators and functions that have their least and greatest value at the ends of an operand."""
EXACT_FUNCTIONS = ("copy", "square", "relu", "prelu", "abs", "sign", "sqrt", "reciprocal")
"""Activation functions that are one operation of IEEE 754, or none."""


def alu(op: str, a: Ends, b: Ends, reverse: bool = False) -> Ends:
    """`a op b`, or `b op a` when reversed; operators of one operand leave out `b`."""
    check_decided(op, (a,) if op in UNARY else (a, b))
    if op in UNARY:
        result = lifted(lambda x: oracle.unary(op, x), a)
    else:
        first, second = (b, a) if reverse else (a, b)
        if op in ("maximum", "minimum") and first == second == EITHER_ZERO:
            return hull((*first, *second))
        result = lifted(lambda x, y: oracle.alu(op, x, y), first, second)
    if op in INEXACT_OPERATORS:
        return (near(result[0])[0], near(result[1])[1])
    return result


def activate(op: str, x: Ends, relu_param: Ends = (0.0, 0.0)) -> Ends:
    """An activation function."""
    check_decided(op, (x,))
    if op in EXACT_FUNCTIONS:
        result = lifted(lambda v, slope: f32(oracle.activation(op, v, slope)), x, relu_param)
        return EITHER_ZERO if op in ("relu", "prelu") and result == EITHER_ZERO else result
    low, high = (oracle.activation(op, end) for end in x)
    return (near(low)[0], near(high)[1])


INTEGER: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "maximum": max,
    "minimum": min,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "greater_equal": operator.ge,
    "greater": operator.gt,
    "less_equal": operator.le,
    "less": operator.lt,
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_xor": lambda a, b: bool(a) != bool(b),
    "abs_max": lambda a, b: a if abs(a) > abs(b) else b,
    "abs_min": lambda a, b: a if abs(a) < abs(b) else b,
}
"""The GpSimd Engine's native integers. `power` is left to float32 by the project."""


def wrapped(dtype: str, value: int) -> int:
    """The integer with the same lowest bits that the type can hold."""
    bits, signed = oracle.INTEGERS[dtype]
    value %= 2**bits
    return value - 2**bits if signed and value >= 2 ** (bits - 1) else value


def reduced(op: str, start: Ends | None, values: Sequence[Ends]) -> Ends:
    """Return `result = result op value` for each value in turn, from `start`, else from the first
    one.

    The order of sums and products is not documented: those are known within n·eps·sum|x| (of
    partial products: n·eps·|product|). A term that is not a float32 number, such as a product, may
    be rounded before it is added. Terms below all normal numbers have an error of half the smallest
    number.
    """
    if start is None:
        start, values = values[0], values[1:]
        if op.startswith("logical"):
            start = exactly(float(all(end != 0 for end in start)))
    if op not in ("add", "subtract", "multiply"):
        *_, result = accumulate(values, lambda a, b: alu(op, a, b), initial=start)
        return result
    sign = -1.0 if op == "subtract" else 1.0
    terms = [start, *(hull((sign * low, sign * high)) for low, high in values)]
    low, high = (
        math.prod(e) if op == "multiply" else total_of(e) for e in zip(*terms, strict=True)
    )
    size = abs(low) if op == "multiply" else total_of(max(map(abs, term)) for term in terms)
    _check_order_is_open(op, terms)
    exact = size < 2**24 and all(end.is_integer() for term in terms for end in term)
    slack = 0.0
    if not exact and math.isfinite(size):
        rounded = sum(any(f32(end) != end for end in term) for term in terms)
        slack = len(terms) * EPSILON * size + rounded * oracle.TINY / 2
    return between(low - slack, high + slack) if size else EITHER_ZERO


def _check_order_is_open(op: str, terms: Sequence[Ends]) -> None:
    """In some orders, but not in all, a sum or product of numbers may leave float32 on the way."""
    ends = [end for term in terms for end in term]
    infinities = {end for end in ends if math.isinf(end)}
    if any(end != end for end in ends) or len(infinities) == 2:
        return
    if op == "multiply":
        magnitudes = [max(map(abs, term)) for term in terms]
        above = math.prod(max(1.0, m) for m in magnitudes)
        below = math.prod(min(1.0, m) for m in magnitudes if m)
        is_open = (above > oracle.HUGE and below < 1) or (below < 2.0**-126 and above > 1)
        is_open = is_open or (above > oracle.HUGE and 0.0 in magnitudes)
    else:
        above = total_of(max(0.0, high) for _, high in terms)
        below = total_of(max(0.0, -low) for low, _ in terms)
        if op == "subtract":
            # In any order, the first number is the first.
            low, high = terms[0]
            above, below = above + min(0.0, high), below - max(0.0, low)
        is_open = min(above, below) > oracle.HUGE or (
            max(above, below) > oracle.HUGE > abs(above - below) / 2 and min(above, below) > 0
        )
    if is_open:
        raise UndecidedError(f"{op} of these numbers in whatever order")


def total_of(values: Iterable[float]) -> float:
    numbers = list(values)
    finite = [value for value in numbers if math.isfinite(value)]
    return sum((value for value in numbers if not math.isfinite(value)), math.fsum(finite))


# -- the machine ----------------------------------------------------------------------------------

IDENTITY = {
    "add": 0.0,
    "subtract": 0.0,
    "multiply": 1.0,
    "maximum": -math.inf,
    "minimum": math.inf,
    "abs_min": math.inf,
    "abs_max": 0.0,
}


@dataclass
class Machine:
    """State between instructions, besides tiles: accumulators and random generators."""

    target: str
    scalar: list[Ends] = field(default_factory=lambda: [exactly(math.nan)] * LANES)
    vector: list[Ends] = field(default_factory=lambda: [exactly(math.nan)] * LANES)
    generators: dict[str, list[list[Any]]] = field(default_factory=dict)
    """The random generators of each lane, by engine; `naive_random` puts them here."""


def accumulate_into(
    registers: list[Ends],
    lanes: Sequence[int],
    results: Rows,
    command: str,
    op: str | None,
    init: Sequence[Ends] = (),
) -> None:
    """Apply `reduce_cmd` to the float32 results before they are rounded to dst."""
    for p, lane in enumerate(lanes):
        if command in ("reset", "reset_reduce"):
            registers[lane] = exactly(IDENTITY[op])
        if command == "load_reduce":
            registers[lane] = init[p]
        if command in ("reduce", "reset_reduce", "load_reduce"):
            registers[lane] = reduced(op, registers[lane], results[p])


def read_out(
    registers: list[Ends], lanes: Sequence[int], reduce_res: Operand | None, sign: float = 1.0
) -> None:
    if reduce_res is not None:
        reduce_res.write([[hull(sign * end for end in registers[lane])] for lane in lanes])


# -- element by element ---------------------------------------------------------------------------


def tensor_tensor(
    m: Machine, dst: Operand, data1: Operand, data2: Operand, op: str, engine: str = "unknown"
) -> None:
    operands = (dst, data1, data2)
    native = all(tile.dtype in ("int32", "uint32") for tile in operands) and op in INTEGER
    in_psum = any(tile.buffer == "psum" for tile in operands)
    if op in BITVEC:
        bits, signed = oracle.INTEGERS[dst.dtype]
        dst.write_stored(
            [
                [oracle.bitvec(op, x, y, bits, signed) for x, y in zip(*rows, strict=True)]
                for rows in zip(data1.integers(), data2.integers(), strict=True)
            ]
        )
    elif native and engine != "vector" and not in_psum:
        dst.write_stored(
            [
                [wrapped(dst.dtype, INTEGER[op](x, y)) for x, y in zip(*rows, strict=True)]
                for rows in zip(data1.integers(), data2.integers(), strict=True)
            ]
        )
    else:
        dst.write(
            [
                [alu(op, x, y) for x, y in zip(*rows, strict=True)]
                for rows in zip(data1.rows(), data2.rows(), strict=True)
            ]
        )


def tensor_scalar(
    m: Machine,
    dst: Operand,
    data: Operand,
    op0: str,
    operand0: ColumnOrNumber | None,
    reverse0: bool = False,
    op1: str | None = None,
    operand1: ColumnOrNumber | None = None,
    reverse1: bool = False,
    engine: str = "unknown",
) -> None:
    stages = [(op0, operand0, reverse0), (op1, operand1, reverse1)]
    stages = [(op, 0 if y is None else y, reverse) for op, y, reverse in stages if op is not None]
    if op0 in BITVEC:
        rows = data.integers()
        bits, signed = oracle.INTEGERS[dst.dtype]
        for op, operand, reverse in stages:
            column = (
                [row[0] for row in operand.integers()]
                if isinstance(operand, Operand)
                else [operand] * len(rows)
            )
            swap = reverse and op != "invert"
            rows = [
                [oracle.bitvec(op, *((y, x) if swap else (x, y)), bits, signed) for x in row]
                for row, y in zip(rows, column, strict=True)
            ]
        dst.write_stored(rows)
        return
    rows = data.rows()
    for op, operand, reverse in stages:
        rows = _stage(op, rows, operand, reverse)
    dst.write(rows)


def _stage(op: str, rows: Rows, operand: ColumnOrNumber, reverse: bool) -> Rows:
    column = column_of(operand, len(rows))
    return [[alu(op, x, y, reverse) for x in row] for row, y in zip(rows, column, strict=True)]


def scalar_tensor_tensor(
    m: Machine,
    dst: Operand,
    data: Operand,
    op0: str,
    operand0: ColumnOrNumber,
    op1: str,
    operand1: Operand,
    reverse0: bool = False,
    reverse1: bool = False,
    reduce_cmd: str = "reset_reduce",
    reduce_op: str | None = None,
    reduce_res: Operand | None = None,
) -> None:
    temp_result = _stage(op0, data.rows(), operand0, reverse0)
    result = [
        [alu(op1, x, y, reverse1) for x, y in zip(*rows, strict=True)]
        for rows in zip(temp_result, operand1.rows(), strict=True)
    ]
    dst.write(result)
    if reduce_op is not None:
        accumulate_into(m.vector, data.lanes, result, reduce_cmd, reduce_op)
    read_out(m.vector, data.lanes, reduce_res)


def reciprocal(m: Machine, dst: Operand, data: Operand) -> None:
    dst.write([[alu("reciprocal", x, exactly(0.0)) for x in row] for row in data.rows()])


def tensor_scalar_reduce(
    m: Machine,
    dst: Operand,
    data: Operand,
    op0: str,
    operand0: ColumnOrNumber | None,
    reduce_op: str,
    reduce_res: Operand | None = None,
    reverse0: bool = False,
    reduce_cmd: str = "reset_reduce",
    reduce_init: ColumnOrNumber | None = None,
    reduce_res_negate: bool = False,
) -> None:
    init = column_of(0.0 if reduce_init is None else reduce_init, len(data.lanes))
    result = _stage(op0, data.rows(), 0 if operand0 is None else operand0, False)
    dst.write(result)
    accumulate_into(m.vector, data.lanes, result, reduce_cmd, reduce_op, init)
    read_out(m.vector, data.lanes, reduce_res, -1.0 if reduce_res_negate else 1.0)


def tensor_scalar_cumulative(
    m: Machine,
    dst: Operand,
    src: Operand,
    op0: str,
    op1: str,
    imm0: ColumnOrNumber,
    imm1: ColumnOrNumber | None = None,
    reduce_cmd: str = "reset_reduce",
) -> None:
    init = column_of(0.0 if imm1 is None else imm1, len(src.lanes))
    out: Rows = []
    rows = _stage(op0, src.rows(), imm0, False)
    for p, (lane, row) in enumerate(zip(src.lanes, rows, strict=True)):
        if reduce_cmd == "reset_reduce":
            m.vector[lane] = exactly(IDENTITY[op1])
        elif reduce_cmd == "load_reduce":
            m.vector[lane] = init[p]
        out.append([])
        for value in row:
            reg = alu(op1, value, m.vector[lane])
            if op1 in ("maximum", "minimum") and reg == EITHER_ZERO:
                reg = EITHER_ZERO
            m.vector[lane] = reg
            out[-1].append(reg)
    dst.write(out)


def tensor_tensor_scan(
    m: Machine,
    dst: Operand,
    data0: Operand,
    data1: Operand,
    initial: ColumnOrNumber,
    op0: str,
    op1: str,
    reverse0: bool = False,
    reverse1: bool = False,
) -> None:
    before = column_of(initial, data0.shape[0])
    result: Rows = []
    for p, (first, second) in enumerate(zip(data0.rows(), data1.rows(), strict=True)):
        result.append([])
        previous = before[p]
        for x, y in zip(first, second, strict=True):
            previous = alu(op1, alu(op0, x, previous, reverse0), y, reverse1)
            result[-1].append(previous)
    dst.write(result)


# -- activation -----------------------------------------------------------------------------------


def activation(
    m: Machine,
    dst: Operand,
    op: str,
    data: Operand,
    bias: ColumnOrNumber | None = None,
    scale: ColumnOrNumber = 1.0,
    reduce_op: str | None = None,
    reduce_res: Operand | None = None,
    reduce_cmd: str = "idle",
    engine: str = "scalar",
) -> None:
    rows = _stage("multiply", data.rows(), scale, False)
    if bias is not None:
        rows = _stage("add", rows, bias, False)
    output = [[activate(op, x) for x in row] for row in rows]
    dst.write(output)
    accumulate_into(m.scalar, data.lanes, output, reduce_cmd, reduce_op)
    read_out(m.scalar, data.lanes, reduce_res)


def activation_reduce(
    m: Machine,
    dst: Operand,
    op: str,
    data: Operand,
    reduce_op: str,
    reduce_res: Operand | None,
    bias: ColumnOrNumber | None = None,
    scale: ColumnOrNumber = 1.0,
) -> None:
    activation(m, dst, op, data, bias, scale, reduce_op, reduce_res, "reset_reduce")


def activate2(
    m: Machine,
    dst: Operand,
    op: str,
    data: Operand,
    imm0: ColumnOrNumber,
    imm1: ColumnOrNumber,
    op0: str,
    op1: str,
    relu_param: ColumnOrNumber = 0.0,
    reverse0: bool = False,
    reverse1: bool = False,
    reduce_op: str | None = None,
    reduce_res: Operand | None = None,
    reduce_cmd: str = "idle",
    engine: str = "scalar",
) -> None:
    rows = data.rows()
    for word, operand, reverse in ((op0, imm0, reverse0), (op1, imm1, reverse1)):
        if word != "bypass":
            rows = _stage(word, rows, operand, reverse)
    slopes = column_of(relu_param, len(rows))
    output = [
        [activate(op, x, slope) for x in row] for row, slope in zip(rows, slopes, strict=True)
    ]
    dst.write(output)
    accumulate_into(m.scalar, data.lanes, output, reduce_cmd, reduce_op)
    read_out(m.scalar, data.lanes, reduce_res)


def exponential(
    m: Machine,
    dst: Operand,
    src: Operand,
    max_value: ColumnOrNumber = 0.0,
    reduce_res: Operand | None = None,
    reduce_cmd: str = "idle",
    reduce_init: ColumnOrNumber = 0.0,
) -> None:
    init = column_of(reduce_init, len(src.lanes))
    rows = _stage("subtract", src.rows(), max_value, False)
    output = [[activate("exp", x) for x in row] for row in rows]
    dst.write(output)
    accumulate_into(m.vector, src.lanes, output, reduce_cmd, "add", init)
    read_out(m.vector, src.lanes, reduce_res)


# -- reductions, movement, patterns ---------------------------------------------------------------


def tensor_reduce(
    m: Machine,
    dst: Operand,
    op: str,
    data: Operand,
    axis: int | Sequence[int],
    negate: bool = False,
    keepdims: bool = False,
) -> None:
    axes = {axis} if isinstance(axis, int) else set(axis)
    reduced_sizes = [data.low.shape[dim] for dim in axes]
    length = math.prod(reduced_sizes)

    def runs(row: list[Any]) -> list[list[Any]]:
        return [row[start : start + length] for start in range(0, len(row), length)]

    if op in BITVEC:
        bits, signed = oracle.INTEGERS[dst.dtype]

        def combine(a: int, b: int) -> int:
            return oracle.bitvec(op, a, b, bits, signed)

        dst.write_stored(
            [
                [wrapped(dst.dtype, list(accumulate(run, combine))[-1]) for run in runs(row)]
                for row in data.integers()
            ]
        )
        return
    sign = -1.0 if negate else 1.0
    dst.write(
        [
            [hull(sign * end for end in reduced(op, None, run)) for run in runs(row)]
            for row in data.rows()
        ]
    )


def tensor_partition_reduce(m: Machine, dst: Operand, op: str, data: Operand) -> None:
    if op in BITVEC:
        bits, signed = oracle.INTEGERS[dst.dtype]

        def combine(a: int, b: int) -> int:
            return oracle.bitvec(op, a, b, bits, signed)

        columns = zip(*data.integers(), strict=True)
        last = [list(accumulate(column, combine))[-1] for column in columns]
        dst.write_stored([[wrapped(dst.dtype, value) for value in last]])
        return
    columns = zip(*data.rows(), strict=True)
    if op == "average":
        count = data.shape[0]
        sums = [reduced("add", None, column) for column in columns]
        dst.write([[between(low / count, high / count) for low, high in sums]])
    else:
        dst.write([[reduced(op, None, column) for column in columns]])


def dma_copy(m: Machine, dst: Operand, src: Operand, **queue: Any) -> None:
    if dst.dtype == src.dtype:
        dst.copy_bits(src)
        return
    elements = iter([element for row in src.rows() for element in row])
    dst.write([[next(elements) for _ in range(dst.shape[1])] for _ in range(dst.shape[0])])


def tensor_copy(m: Machine, dst: Operand, src: Operand, engine: str = "unknown") -> None:
    dma_copy(m, dst, src)


def memset(m: Machine, dst: Operand, value: Number, engine: str = "unknown") -> None:
    constant = value if isinstance(value, int) else f32(value)
    stored = 0 if dst.dtype in PACKED_TYPES else round_to(dst.dtype, constant)
    partitions, elements = dst.shape
    dst.write_stored([[stored] * elements] * partitions)


def iota(
    m: Machine,
    dst: Operand,
    pattern: Sequence[Sequence[int]],
    offset: int = 0,
    channel_multiplier: int = 0,
) -> None:
    padding = [(0, 1)] * (4 - len(pattern))
    (step_w, num_w), (step_z, num_z), (step_y, num_y), (step_x, num_x) = *padding, *pattern
    rows: list[list[float]] = []
    for channel_id in range(dst.shape[0]):
        rows.append([])
        for w, z, y, x in product(range(num_w), range(num_z), range(num_y), range(num_x)):
            value = offset + channel_id * channel_multiplier
            value += w * step_w + z * step_z + y * step_y + x * step_x
            rows[-1].append(round_to(dst.dtype, wrapped("int32", value)))
    dst.write_stored(rows)


# -- Tensor Engine --------------------------------------------------------------------------------


def nc_matmul(
    m: Machine,
    dst: Operand,
    stationary: Operand,
    moving: Operand,
    is_transpose: bool = False,
    accumulate: bool | None = None,
    perf_mode: str = "none",
    **hints: Any,
) -> None:
    if is_transpose and m.target != "trn1":
        _select_columns(dst, stationary, moving)
        return
    if perf_mode == "double_row":
        left, right = _split_rows(stationary), _split_rows(moving)
    else:
        left, right = stationary.rows(), moving.rows()
    flags = dst.by_matmul.copy().reshape(dst.shape)
    rows = [
        [
            _dot(
                [row[i] for row in left],
                [row[j] for row in right],
                previous if _adds(accumulate, bool(flags[i, j])) else None,
            )
            for j, previous in enumerate(row_before)
        ]
        for i, row_before in enumerate(dst.rows())
    ]
    dst.write(rows)
    dst.by_matmul[...] = True


def _adds(accumulate: bool | None, written: bool) -> bool:
    return written if accumulate is None else accumulate


def _split_rows(tile: Operand) -> Rows:
    """(K, 2, N) to 2K rows of N: the first free dimension belongs to the contraction."""
    half = tile.shape[1] // 2
    return [part for row in tile.rows() for part in (row[:half], row[half:])]


def _dot(a: Sequence[Ends], b: Sequence[Ends], previous: Ends | None) -> Ends:
    """The sum of the products; they and every partial sum are rounded to float32."""
    products = [exactly(x * y) for (x, _), (y, _) in zip(a, b, strict=True)]
    return reduced("add", previous or exactly(0.0), products)


def _select_columns(dst: Operand, stationary: Operand, moving: Operand) -> None:
    """Transpose mode: each column of `moving` has a single 1, which selects a row to pass on."""
    chosen = [column.index(exactly(1.0)) for column in zip(*moving.rows(), strict=True)]
    dst.by_matmul[...] = True
    if dst.dtype != stationary.dtype:
        rows = stationary.rows()
        dst.write([[rows[k][i] for k in chosen] for i in range(dst.shape[0])])
        return
    bits = stationary.low.reshape(stationary.shape)
    dst.write_stored([[bits[k, i] for k in chosen] for i in range(dst.shape[0])])


def nc_transpose(m: Machine, dst: Operand, data: Operand, engine: str = "unknown") -> None:
    tensor = engine == "tensor" or (
        engine == "unknown" and dst.buffer == "psum" and data.buffer == "sbuf"
    )
    if tensor and m.target == "trn1" and data.dtype in (*oracle.FORMATS, "float8_e8m0fnu"):
        # A matmul with the identity: NaN and infinities do not stay where they are.
        rows = data.rows()
        identity = [[exactly(float(k == p)) for p in range(len(rows))] for k in range(len(rows))]
        dst.write(
            [
                [
                    _dot([row[i] for row in rows], [row[p] for row in identity], None)
                    for p in range(len(rows))
                ]
                for i in range(dst.shape[0])
            ]
        )
    else:
        bits = data.low.copy().reshape(data.shape)
        dst.write_stored([[bits[p, i] for p in range(data.shape[0])] for i in range(dst.shape[0])])
    if tensor:
        dst.by_matmul[...] = True


def dma_transpose(m: Machine, dst: Operand, src: Operand, **queue: Any) -> None:
    # Dimension i of dst is dimension axes[i] of src.
    axes = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}[src.low.ndim]
    bits = src.low.copy()
    for at in np.ndindex(dst.low.shape):
        source = [0] * len(at)
        for dim, axis in enumerate(axes):
            source[axis] = at[dim]
        dst.low[at] = dst.high[at] = bits[tuple(source)]


INSTRUCTIONS: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (
        tensor_tensor,
        tensor_scalar,
        scalar_tensor_tensor,
        reciprocal,
        tensor_scalar_reduce,
        tensor_scalar_cumulative,
        tensor_tensor_scan,
        activation,
        activation_reduce,
        activate2,
        exponential,
        tensor_reduce,
        tensor_partition_reduce,
        dma_copy,
        tensor_copy,
        memset,
        iota,
        nc_matmul,
        nc_transpose,
        dma_transpose,
    )
}
