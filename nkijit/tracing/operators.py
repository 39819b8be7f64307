"""Operators as kernels name them: `nl.add`, `nl.gelu`, `nl.bypass`, …

Each operator is one object, which serves both as the operator that instructions take (`op=nl.add`)
and as a function that computes it on tiles (`nl.add(x, y)`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np

from nkijit.dialects.operators import OPERATORS, AluKind
from nkijit.dialects.operators import Operator as Entry
from nkijit.dialects.rule_texts.operands import UNSUPPORTED
from nkijit.tracing.annotations import DTypeLike, Operand
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


class Word:
    """The name of an operator in `OPERATORS`, as an argument of instructions (`op=nl.add`)."""

    def __init__(self, name: str):
        self.__name__ = self.nki_operator = name

    @property
    def entry(self) -> Entry:
        """The operator's entry in `OPERATORS`."""
        return OPERATORS[self.nki_operator]

    @property
    def is_bitvec(self) -> bool:
        """True for an operator on bit patterns."""
        alu = self.entry.alu
        return alu is not None and alu.kind is AluKind.bitvec

    def __trace_image__(self) -> Word:
        """Return the operator itself as its cache key image; see `nkijit.kernels.cache_key`."""
        return self

    def __repr__(self) -> str:
        return f"nl.{self.nki_operator}"


class Operator(Word):
    """An operator that is only an argument of instructions, such as `nl.bypass`.

    Calling it raises an error.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._refuse()

    def _refuse(self) -> NoReturn:
        tracer_for(repr(self)).fail(
            UNSUPPORTED,
            repr(self),
            "the word is an argument of instructions, not a function of tiles",
            f"pass {self!r} as an operator to an instruction that takes it",
        )

    @property
    def nki_tile_hint(self) -> str:
        """Advice for an operator that is passed as a tile."""
        return f"pass the tiles first, and the operator by name: op={self!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (operator_named, (self.nki_operator,))


class UnaryOperator(Operator):
    """A function of one tile, computed element by element into a new tile in SBUF.

    Computed in float32 and rounded once. `sin` first subtracts whole turns. It is accurate as long
    as float32 can distinguish angles, to about 2**13 turns, and is not specified for infinities.
    `log`, `sqrt` and `arctan` are the activation functions with their documented valid ranges.
    `invert` takes integers. `rsqrt` runs on the GpSimd Engine and takes no tile in PSUM.

    Args of a call:
        x: a tile.
        dtype: data type of the result, by default that of `x`.

    Source: NKI API reference, nki.language.
    """

    compute: ClassVar[Callable[[Word, Any, Any], NkiTensor]]
    """`compute(operator, x, dtype)` emits the instructions of a call; `nkijit.language` sets it."""

    def __call__(self, x: NkiTensor, dtype: DTypeLike | None = None) -> NkiTensor:
        return type(self).compute(self, x, dtype)


class BinaryOperator(Operator):
    """A function of two tiles, or of a tile and a number, into a new tile in SBUF.

    Tiles have the same number of dimensions and broadcast by NumPy's rules. If the data types of
    `x` and `y` differ, the result has the data type of the first tile; the reference does not
    define this. Arithmetic runs in float32 and is rounded once. Exception: two int32 tiles, or two
    uint32 tiles, are computed in integers (`nisa.tensor_tensor`). Comparisons and logical operators
    give 1 or 0. Bitvec operators take integers of one width; their result is converted to `dtype`
    afterwards.

    Args of a call:
        x: a tile or a number.
        y: a tile or a number; one of the two is a tile.
        dtype: data type of the result, by default that of the first tile.

    Source: NKI API reference, nki.language.
    """

    compute: ClassVar[Callable[[Word, Any, Any, Any], NkiTensor]]
    """`compute(operator, x, y, dtype)` emits the instructions of a call; `nkijit.language` sets it.
    """

    def __call__(self, x: Operand, y: Operand, dtype: DTypeLike | None = None) -> NkiTensor:
        return type(self).compute(self, x, y, dtype)


OperatorLike = Word | np.ufunc
"""An operator of an instruction: `nl.add`, or the NumPy function of the same name, `np.add`."""


def operator_named(name: str) -> Operator:
    """Return the operator object called `name`; there is one per name."""
    return _OPERATORS[name]


def _make(name: str) -> Operator:
    entry = OPERATORS[name]
    if entry.alu is not None:
        return (UnaryOperator if entry.alu.arity == 1 else BinaryOperator)(name)
    if entry.activation is not None and not entry.activation.parametric:
        return UnaryOperator(name)
    return Operator(name)


_OPERATORS = {name: _make(name) for name in OPERATORS}


def _unary(name: str) -> UnaryOperator:
    word = _OPERATORS[name]
    assert isinstance(word, UnaryOperator)
    return word


def _binary(name: str) -> BinaryOperator:
    word = _OPERATORS[name]
    assert isinstance(word, BinaryOperator)
    return word


# Written out, because users import these names and editors complete them.
invert = _unary("invert")
"""`~x`, bit by bit; integers."""
bitwise_and = _binary("bitwise_and")
"""`x & y`, bit by bit; integers of one width."""
bitwise_or = _binary("bitwise_or")
"""`x | y`, bit by bit; integers of one width."""
bitwise_xor = _binary("bitwise_xor")
"""`x ^ y`, bit by bit; integers of one width."""
left_shift = _binary("left_shift")
"""`x << y`; integers of one width."""
right_shift = _binary("right_shift")
"""`x >> y`; integers of one width."""
add = _binary("add")
"""`x + y`."""
subtract = _binary("subtract")
"""`x - y`."""
multiply = _binary("multiply")
"""`x * y`."""
maximum = _binary("maximum")
"""The larger of `x` and `y`."""
minimum = _binary("minimum")
"""The smaller of `x` and `y`."""
equal = _binary("equal")
"""1 where `x == y`, else 0."""
not_equal = _binary("not_equal")
"""1 where `x != y`, else 0."""
greater_equal = _binary("greater_equal")
"""1 where `x >= y`, else 0."""
greater = _binary("greater")
"""1 where `x > y`, else 0."""
less_equal = _binary("less_equal")
"""1 where `x <= y`, else 0."""
less = _binary("less")
"""1 where `x < y`, else 0."""
logical_and = _binary("logical_and")
"""1 where neither `x` nor `y` is 0, else 0."""
logical_or = _binary("logical_or")
"""1 where `x` or `y` is not 0, else 0."""
logical_xor = _binary("logical_xor")
"""1 where one of `x` and `y` is 0 and the other is not, else 0."""
power = _binary("power")
"""`x ** y`, in float32; on the GpSimd Engine in `nisa.tensor_tensor`."""
abs_max = _binary("abs_max")
"""The operand (`x` or `y`) of larger magnitude, with its sign; NeuronCore-v4 and newer."""
abs_min = _binary("abs_min")
"""The operand (`x` or `y`) of smaller magnitude, with its sign; NeuronCore-v4 and newer."""
abs = _unary("abs")
"""`|x|`, an operator and an activation function."""
square = _unary("square")
"""`x * x`, an activation function; an operator on NeuronCore-v4 and newer."""
relu = _unary("relu")
"""`max(x, 0)`, an activation function; an operator on NeuronCore-v4 and newer."""
rsqrt = _unary("rsqrt")
"""`1 / sqrt(x)`, an operator and an activation function; valid from 2**-87 to 2**97."""
reciprocal = _unary("reciprocal")
"""`1 / x`, an operator and an activation function; valid for `|x|` from 2**-42 to 2**42."""
copy = _unary("copy")
"""`x`, an activation function."""
sigmoid = _unary("sigmoid")
"""`1 / (1 + exp(-x))`."""
prelu = _OPERATORS["prelu"]
"""`x` where `x` is positive, else `relu_param * x`: an argument of instructions only."""
gelu = _unary("gelu")
"""`x * (1 + erf(x / sqrt(2))) / 2`."""
gelu_dx = _unary("gelu_dx")
"""The derivative of `gelu`."""
gelu_apprx_tanh = _unary("gelu_apprx_tanh")
"""`gelu` by its approximation with `tanh`."""
gelu_apprx_sigmoid = _unary("gelu_apprx_sigmoid")
"""`gelu` by its approximation with `sigmoid`."""
gelu_apprx_sigmoid_dx = _unary("gelu_apprx_sigmoid_dx")
"""The derivative of `gelu_apprx_sigmoid`."""
silu = _unary("silu")
"""`x * sigmoid(x)`."""
silu_dx = _unary("silu_dx")
"""The derivative of `silu`."""
tanh = _unary("tanh")
"""The hyperbolic tangent."""
softplus = _unary("softplus")
"""`log(1 + exp(x))`."""
mish = _unary("mish")
"""`x * tanh(softplus(x))`."""
erf = _unary("erf")
"""The error function."""
erf_dx = _unary("erf_dx")
"""The derivative of `erf`."""
exp = _unary("exp")
"""`e ** x`."""
log = _unary("log")
"""The natural logarithm; valid from 2**-64 to 2**64."""
sin = _unary("sin")
"""The sine of an angle in radians; instructions take angles from -pi to pi."""
arctan = _unary("arctan")
"""The arc tangent; valid from -pi/2 to pi/2."""
sqrt = _unary("sqrt")
"""The square root; valid from 2**-116 to 2**118."""
sign = _unary("sign")
"""The sign of `x`: -1, 0 or 1."""
bypass = _OPERATORS["bypass"]
"""No operation, in a stage of `nisa.tensor_scalar`: an argument of instructions only."""
average = _OPERATORS["average"]
"""The mean, in `nisa.tensor_partition_reduce`: an argument of instructions only."""

__all__ = [
    "abs",
    "abs_max",
    "abs_min",
    "add",
    "arctan",
    "average",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bypass",
    "copy",
    "equal",
    "erf",
    "erf_dx",
    "exp",
    "gelu",
    "gelu_apprx_sigmoid",
    "gelu_apprx_sigmoid_dx",
    "gelu_apprx_tanh",
    "gelu_dx",
    "greater",
    "greater_equal",
    "invert",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mish",
    "multiply",
    "not_equal",
    "power",
    "prelu",
    "reciprocal",
    "relu",
    "right_shift",
    "rsqrt",
    "sigmoid",
    "sign",
    "silu",
    "silu_dx",
    "sin",
    "softplus",
    "sqrt",
    "square",
    "subtract",
    "tanh",
]
