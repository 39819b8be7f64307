"""Operators as kernels name them: `nl.add`, `nl.gelu`, `nl.bypass`, …

One object is both: the operator that instructions take (`op=nl.add`), and a function that
computes it on tiles (`nl.add(x, y)`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np

from nkijit.annotations import DTypeLike, Operand
from nkijit.dialects.operators import OPERATORS, AluKind
from nkijit.dialects.operators import Operator as Entry
from nkijit.dialects.rule_texts.operands import UNSUPPORTED
from nkijit.tensor import NkiTensor
from nkijit.tracer import tracer_for


class Word:
    """An operator of `OPERATORS` by its name, as instructions take it."""

    def __init__(self, name: str):
        self.__name__ = self.nki_operator = name

    @property
    def entry(self) -> Entry:
        """What is known of the word."""
        return OPERATORS[self.nki_operator]

    @property
    def is_bitvec(self) -> bool:
        """True for an operator on bit patterns."""
        alu = self.entry.alu
        return alu is not None and alu.kind is AluKind.bitvec

    def __trace_image__(self) -> Word:
        """In keys of traces a word stands for itself; see `nkijit.images`."""
        return self

    def __repr__(self) -> str:
        return f"nl.{self.nki_operator}"


class Operator(Word):
    """A word that is an argument of instructions only, as `nl.bypass`; calling it is refused."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._refuse()

    def _refuse(self) -> NoReturn:
        tracer_for(repr(self)).fail(
            UNSUPPORTED,
            repr(self),
            "the word is an argument of instructions, not a function of tiles",
            f"pass {self!r} as an operator to an instruction that takes it",
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (operator_named, (self.nki_operator,))


class UnaryOperator(Operator):
    """A function of one tile, computed element by element into a new tile in SBUF.

    Computed in float32 and rounded once. `sin` first takes whole turns off; it is accurate as
    long as float32 can distinguish angles, to about 2**13 turns, and says nothing of infinities.
    `log`, `sqrt` and `arctan` are the activation functions with their documented valid ranges.
    `invert` takes integers. `rsqrt` runs on the GpSimd Engine and takes no tile in PSUM.

    Args of a call:
        x: a tile.
        dtype: data type of the result, by default that of `x`.

    Source: NKI API reference, nki.language.
    """

    compute: ClassVar[Callable[[Word, Any, Any], NkiTensor]]
    """What a call does; `nkijit.language`, which is made of instructions, says it."""

    def __call__(self, x: NkiTensor, dtype: DTypeLike | None = None) -> NkiTensor:
        return type(self).compute(self, x, dtype)


class BinaryOperator(Operator):
    """A function of two tiles, or of a tile and a number, into a new tile in SBUF.

    Tiles have the same number of dimensions and broadcast by NumPy's rules. The reference does
    not name the result's data type where `x` and `y` differ: it is that of the first tile.
    Arithmetic runs in float32 and is rounded once, except that int32/uint32 tiles of one kind
    are computed in integers (`nisa.tensor_tensor`). Comparisons and logical operators give 1 or
    0. Bitvec operators take integers of one width; another `dtype` is converted to afterwards.

    Args of a call:
        x: a tile or a number.
        y: a tile or a number; one of the two is a tile.
        dtype: data type of the result, by default that of the first tile.

    Source: NKI API reference, nki.language.
    """

    compute: ClassVar[Callable[[Word, Any, Any, Any], NkiTensor]]
    """As for functions of one tile."""

    def __call__(self, x: Operand, y: Operand, dtype: DTypeLike | None = None) -> NkiTensor:
        return type(self).compute(self, x, y, dtype)


OperatorLike = Word | np.ufunc
"""An operator of an instruction: `nl.add`, or NumPy's of the same name, `np.add`."""


def operator_named(name: str) -> Operator:
    """The one operator object called `name`."""
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


# Written out, because these are names that authors import and editors complete.
invert = _unary("invert")
bitwise_and = _binary("bitwise_and")
bitwise_or = _binary("bitwise_or")
bitwise_xor = _binary("bitwise_xor")
left_shift = _binary("left_shift")
right_shift = _binary("right_shift")
add = _binary("add")
subtract = _binary("subtract")
multiply = _binary("multiply")
maximum = _binary("maximum")
minimum = _binary("minimum")
equal = _binary("equal")
not_equal = _binary("not_equal")
greater_equal = _binary("greater_equal")
greater = _binary("greater")
less_equal = _binary("less_equal")
less = _binary("less")
logical_and = _binary("logical_and")
logical_or = _binary("logical_or")
logical_xor = _binary("logical_xor")
power = _binary("power")
abs_max = _binary("abs_max")
abs_min = _binary("abs_min")
abs = _unary("abs")
square = _unary("square")
relu = _unary("relu")
rsqrt = _unary("rsqrt")
reciprocal = _unary("reciprocal")
copy = _unary("copy")
sigmoid = _unary("sigmoid")
prelu = _OPERATORS["prelu"]
gelu = _unary("gelu")
gelu_dx = _unary("gelu_dx")
gelu_apprx_tanh = _unary("gelu_apprx_tanh")
gelu_apprx_sigmoid = _unary("gelu_apprx_sigmoid")
gelu_apprx_sigmoid_dx = _unary("gelu_apprx_sigmoid_dx")
silu = _unary("silu")
silu_dx = _unary("silu_dx")
tanh = _unary("tanh")
softplus = _unary("softplus")
mish = _unary("mish")
erf = _unary("erf")
erf_dx = _unary("erf_dx")
exp = _unary("exp")
log = _unary("log")
sin = _unary("sin")
arctan = _unary("arctan")
sqrt = _unary("sqrt")
sign = _unary("sign")
bypass = _OPERATORS["bypass"]
average = _OPERATORS["average"]

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
