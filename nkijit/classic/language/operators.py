"""Element-wise functions of tiles, which are also operators of instructions.

`nl.add(x, y)` computes; `op=nl.add` names the operator. Each function is one object, with the
signature of its class. It emits the instructions of the current API's function of the same name.
Sources: NKI API reference 2.26, nki.language; nki.api.shared, "NKI Type Promotion".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nkijit import language as current
from nkijit.classic.calls.calls import composed, functional, raised, refuse_rest
from nkijit.classic.tensors.promotion import promoted
from nkijit.classic.tensors.tensors import ClassicTensor, as_tensor
from nkijit.dialects.dtypes import Kind
from nkijit.dialects.operators import OPERATORS
from nkijit.language.elementwise import binary_into, unary_into
from nkijit.language.tiles import in_sbuf
from nkijit.tracing.dtype_names import as_dtype
from nkijit.tracing.operators import Word
from nkijit.tracing.tensor import NkiTensor

_ON_GPSIMD = ("power", "rsqrt")
"""Operators of the GpSimd Engine, which cannot reach PSUM."""


class Function:
    """An element-wise function of the language, which may also be an operator of instructions."""

    def __init__(self, name: str, does: str, of: str | None = None):
        """Create the function `nl.<name>`.

        Args:
            name: the function's name.
            does: the first line of the function's docstring.
            of: the name of the operator, by default the function's.
        """
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"{does}\n\n{type(self).__call__.__doc__}"
        operator = of or name
        if operator in OPERATORS:
            self.nki_operator = operator

    def __repr__(self) -> str:
        return f"nl.{self.__name__}"

    def __reduce__(self) -> str:
        return self.__name__

    def _word(self) -> Word | None:
        operator = getattr(self, "nki_operator", None)
        return None if operator is None else Word(operator)

    def _several(self, dtype: Any) -> Callable[..., None]:
        """Return an `emit` for `functional` that calls the current API's function of the same name.

        The called function emits several instructions.
        """
        return composed(getattr(current, self.__name__), dtype=dtype)


def _are_truth_values(*operands: Any) -> bool:
    return all(
        isinstance(value, ClassicTensor) and as_dtype(value.dtype).kind is Kind.boolean
        for value in operands
    )


class UnaryFunction(Function):
    """An element-wise function of one tile."""

    def __call__(
        self, x: Any, *, dtype: Any = None, mask: Any = None, **kwargs: Any
    ) -> ClassicTensor:
        """Computed element by element in a new tile.

        Args:
            x: tile in SBUF or PSUM.
            dtype: data type of the result, by default that of `x`.
            mask: which elements are computed.
        """
        return self._computed(x, dtype, mask, kwargs)

    def _computed(self, x: Any, dtype: Any, mask: Any, rest: dict[str, Any]) -> ClassicTensor:
        call = repr(self)
        refuse_rest(call, rest)
        if self in _OF_TRUTH_VALUES and _are_truth_values(x):
            return _OF_TRUTH_VALUES[self](x, dtype=dtype, mask=mask)
        tile = as_tensor(call, "x", x)
        wanted = tile.dtype if dtype is None else dtype
        emit = self._emit if self._word() is not None else self._several(wanted)
        return functional(call, emit, {"x": tile}, dtype=wanted, mask=mask)

    def _emit(self, dst: NkiTensor, x: NkiTensor) -> None:
        word = self._word()
        assert word is not None
        unary_into(word, dst, in_sbuf(x) if self.__name__ in _ON_GPSIMD else x)


class UnaryPredicate(UnaryFunction):
    """An element-wise function of one tile; its result is boolean."""

    def __call__(
        self, x: Any, *, dtype: Any = bool, mask: Any = None, **kwargs: Any
    ) -> ClassicTensor:
        """Computed element by element in a new tile, with 1 for true and 0 for false.

        Args:
            x: tile in SBUF or PSUM.
            dtype: data type of the result.
            mask: which elements are computed.
        """
        return self._computed(x, dtype, mask, kwargs)


class BinaryFunction(Function):
    """An element-wise function of two tiles, or of a tile and a number."""

    def __call__(
        self, x: Any, y: Any, *, dtype: Any = None, mask: Any = None, **kwargs: Any
    ) -> ClassicTensor:
        """Computed element by element in a new tile.

        Args:
            x: tile in SBUF or PSUM, or a number.
            y: as `x`; one of the two is a tile. Tiles broadcast by NumPy's rules, over partitions
                by DMA.
            dtype: data type of the result, by default the type to which `x` and `y` promote.
                For operators on bit patterns a number has the type of the tile, and a quotient of
                integers is float32.
            mask: which elements are computed.
        """
        return self._computed(x, y, dtype, mask, kwargs)

    def _computed(
        self, x: Any, y: Any, dtype: Any, mask: Any, rest: dict[str, Any]
    ) -> ClassicTensor:
        call = repr(self)
        refuse_rest(call, rest)
        if self in _OF_TRUTH_VALUES and _are_truth_values(x, y):
            return _OF_TRUTH_VALUES[self](x, y, dtype=dtype, mask=mask)
        word = self._word()
        wanted = dtype
        if dtype is None:
            bits = word is not None and word.is_bitvec
            wanted = promoted(*(v for v in (x, y) if not bits or isinstance(v, ClassicTensor)))
            if self.__name__ == "divide" and as_dtype(wanted).kind is not Kind.float:
                wanted = "float32"  # a quotient of integers, as in NumPy and published kernels
        several = self._several(wanted)

        def emit(dst: NkiTensor, **operands: Any) -> None:
            tiles = {name: self._operand(v, dst.ndim) for name, v in operands.items()}
            if word is None:
                several(dst, **tiles)
            else:
                binary_into(word, dst, **tiles)

        return functional(call, emit, {"x": x, "y": y}, dtype=wanted, mask=mask)

    def _operand(self, value: Any, rank: int) -> Any:
        if not isinstance(value, NkiTensor):
            return value
        tile = raised(repr(self), value, rank)
        return in_sbuf(tile) if self.__name__ in _ON_GPSIMD else tile


class BinaryPredicate(BinaryFunction):
    """An element-wise function of two tiles, or of a tile and a number; its result is boolean."""

    def __call__(
        self, x: Any, y: Any, *, dtype: Any = bool, mask: Any = None, **kwargs: Any
    ) -> ClassicTensor:
        """Computed element by element in a new tile, with 1 for true and 0 for false.

        Args:
            x: tile in SBUF or PSUM, or a number.
            y: as `x`; one of the two is a tile. Tiles broadcast by NumPy's rules.
            dtype: data type of the result.
            mask: which elements are computed.
        """
        return self._computed(x, y, dtype, mask, kwargs)


class Remainder(BinaryFunction):
    """A remainder function; it also accepts `dtype` and `mask` as positional arguments."""

    def __call__(
        self, x: Any, y: Any, dtype: Any = None, mask: Any = None, **kwargs: Any
    ) -> ClassicTensor:
        """Computed element by element in a new tile; arguments as for `nl.add`."""
        return self._computed(x, y, dtype, mask, kwargs)


abs = UnaryFunction("abs", "Absolute value.")
arctan = UnaryFunction("arctan", "Inverse tangent.")
ceil = UnaryFunction("ceil", "The smallest integer that is not below `x`.")
cos = UnaryFunction("cos", "Cosine.")
erf = UnaryFunction("erf", "Error function.")
erf_dx = UnaryFunction("erf_dx", "Derivative of the error function.")
exp = UnaryFunction("exp", "Exponential.")
floor = UnaryFunction("floor", "The largest integer that is not above `x`.")
gelu = UnaryFunction("gelu", "Gaussian error linear unit.")
gelu_apprx_sigmoid = UnaryFunction("gelu_apprx_sigmoid", "`gelu`, approximated with a sigmoid.")
gelu_apprx_tanh = UnaryFunction("gelu_apprx_tanh", "`gelu`, approximated with a tanh.")
gelu_dx = UnaryFunction("gelu_dx", "Derivative of `gelu`.")
invert = UnaryFunction("invert", "Bitwise not of integers, logical not of truth values.")
log = UnaryFunction("log", "Natural logarithm.")
mish = UnaryFunction("mish", "`x * tanh(softplus(x))`.")
negative = UnaryFunction("negative", "`-x`.")
reciprocal = UnaryFunction("reciprocal", "`1 / x`.")
relu = UnaryFunction("relu", "`maximum(x, 0)`.")
rsqrt = UnaryFunction("rsqrt", "`1 / sqrt(x)`.")
sigmoid = UnaryFunction("sigmoid", "`1 / (1 + exp(-x))`.")
sign = UnaryFunction("sign", "-1, 0 or 1, by the sign of `x`.")
silu = UnaryFunction("silu", "`x * sigmoid(x)`.")
silu_dx = UnaryFunction("silu_dx", "Derivative of `silu`.")
sin = UnaryFunction("sin", "Sine.")
softplus = UnaryFunction("softplus", "`log(1 + exp(x))`.")
sqrt = UnaryFunction("sqrt", "Square root.")
square = UnaryFunction("square", "`x * x`.")
tan = UnaryFunction("tan", "Tangent.")
tanh = UnaryFunction("tanh", "Hyperbolic tangent.")
trunc = UnaryFunction("trunc", "The integer part of `x`.")
logical_not = UnaryPredicate("logical_not", "1 where `x` is 0.")

add = BinaryFunction("add", "`x + y`.")
bitwise_and = BinaryFunction("bitwise_and", "Bitwise and of integers.")
bitwise_or = BinaryFunction("bitwise_or", "Bitwise or of integers.")
bitwise_xor = BinaryFunction("bitwise_xor", "Bitwise exclusive or of integers.")
divide = BinaryFunction("divide", "`x / y`, as `x` times the reciprocal of `y`.")
left_shift = BinaryFunction("left_shift", "`x << y`, of integers.")
maximum = BinaryFunction("maximum", "The larger of two.")
minimum = BinaryFunction("minimum", "The smaller of two.")
multiply = BinaryFunction("multiply", "`x * y`.")
power = BinaryFunction("power", "`x ** y`.")
right_shift = BinaryFunction("right_shift", "`x >> y`, of integers, zeros coming in.")
subtract = BinaryFunction("subtract", "`x - y`.")
fmod = Remainder("fmod", "Remainder of `x / y` with the sign of `x`.")
mod = Remainder("mod", "Remainder of `x / y` with the sign of `y`.")
equal = BinaryPredicate("equal", "`x == y`.")
greater = BinaryPredicate("greater", "`x > y`.")
greater_equal = BinaryPredicate("greater_equal", "`x >= y`.")
less = BinaryPredicate("less", "`x < y`.")
less_equal = BinaryPredicate("less_equal", "`x <= y`.")
logical_and = BinaryPredicate("logical_and", "1 where neither is 0.")
logical_or = BinaryPredicate("logical_or", "1 where not both are 0.")
logical_xor = BinaryPredicate("logical_xor", "1 where one of the two is 0.")
not_equal = BinaryPredicate("not_equal", "`x != y`.")

_OF_TRUTH_VALUES: dict[Function, Any] = {
    bitwise_and: logical_and,
    bitwise_or: logical_or,
    bitwise_xor: logical_xor,
    invert: logical_not,
}
"""Maps bitwise functions to the functions that replace them for booleans, as in NumPy."""

__all__ = [
    "abs",
    "add",
    "arctan",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "ceil",
    "cos",
    "divide",
    "equal",
    "erf",
    "erf_dx",
    "exp",
    "floor",
    "fmod",
    "gelu",
    "gelu_apprx_sigmoid",
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
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mish",
    "mod",
    "multiply",
    "negative",
    "not_equal",
    "power",
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
    "tan",
    "tanh",
    "trunc",
]
