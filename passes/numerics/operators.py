"""The operators of the ALU and the activation functions in NumPy.

The tables map the names of `nkijit.dialects.operators.OPERATORS` to NumPy functions. Values are
float32, as engines convert their inputs; bit patterns are integer arrays of one dtype. `storage`
rounds results to the destination. Every function writes into `out`, which may be the array of an
operand, and is vectorised over any shape that broadcasts.

IEEE 754 exceptions are not errors: call the functions inside `untrapped`, once per plan.

Sources: tables "Supported Math Operators" and "Supported Activation Functions" of the public API
reference (nki.api.shared), with its note on `sin`; the reference pages of `abs_max` and `abs_min`.
The Scalar Engine approximates activation functions by unpublished piecewise polynomials. This
module computes the exact function and its limits at the infinities, within 2 units in the last
place of float32 (3 for NumPy's `exp`). This includes inputs outside a function's documented valid
range, except for `sin`. NaN gives NaN unless stated otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
ArrayOrNumber = Array | np.float32

Unary = Callable[[Array, Array], object]
"""A function of one operand: `f(x, out)`."""

Binary = Callable[[ArrayOrNumber, ArrayOrNumber, Array], object]
"""A function of two operands: `f(x, y, out)`."""

Reduction = Callable[[Array], Array]
"""A reduction: `f(x)` returns a new (P, 1) array for a (P, N) array, N >= 1."""

Fold = Callable[[Array, Array], Array]
"""A reduction with an accumulator: `f(accumulator, x)` returns a new (P, 1) array.

The arguments have the shapes (P, 1) and (P, N).
"""


def _special() -> Any:
    # Imported when needed: it takes longer than all other imports, and most kernels do not use it.
    return import_module("scipy.special")


# -- ALU, arithmetic ------------------------------------------------------------------------------


def _maximum(x: ArrayOrNumber, y: ArrayOrNumber, out: Array) -> None:
    np.maximum(x, y, out=out)  # NumPy deprecates a positional `out` of `maximum`


def _minimum(x: ArrayOrNumber, y: ArrayOrNumber, out: Array) -> None:
    np.minimum(x, y, out=out)


def _logical_and(x: ArrayOrNumber, y: ArrayOrNumber, out: Array) -> None:
    out[...] = np.bitwise_and(np.not_equal(x, 0), np.not_equal(y, 0))


def _logical_or(x: ArrayOrNumber, y: ArrayOrNumber, out: Array) -> None:
    out[...] = np.bitwise_or(np.not_equal(x, 0), np.not_equal(y, 0))


def _logical_xor(x: ArrayOrNumber, y: ArrayOrNumber, out: Array) -> None:
    out[...] = np.not_equal(np.not_equal(x, 0), np.not_equal(y, 0))


def _abs_max(x: ArrayOrNumber, y: ArrayOrNumber, out: Array) -> None:
    select(np.greater(np.absolute(x), np.absolute(y)), x, y, out)


def _abs_min(x: ArrayOrNumber, y: ArrayOrNumber, out: Array) -> None:
    select(np.less(np.absolute(x), np.absolute(y)), x, y, out)


def select(first: Array, x: ArrayOrNumber, y: ArrayOrNumber, out: Array) -> None:
    """Compute `np.where(first, x, y)` on bits, without branches.

    This takes a third of the time of `np.where` on random data.
    """
    mask = np.negative(first.astype(np.uint32))
    x_bits, y_bits = x.view(np.uint32), y.view(np.uint32)
    out.view(np.uint32)[...] = y_bits ^ ((x_bits ^ y_bits) & mask)


BINARY: dict[str, Binary] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": _maximum,
    "minimum": _minimum,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater_equal": np.greater_equal,
    "greater": np.greater,
    "less_equal": np.less_equal,
    "less": np.less,
    "logical_and": _logical_and,
    "logical_or": _logical_or,
    "logical_xor": _logical_xor,
    "power": np.power,
    "abs_max": _abs_max,
    "abs_min": _abs_min,
}
"""Arithmetic ALU operators of two operands, `f(x, y, out)`.

Comparisons and logical operators give 1.0 or 0.0; a logical operand is true when it is not zero, so
NaN is true. `abs_max` is documented as `x if |x| > |y| else y`, `abs_min` likewise with `<`: ties
and NaN in either operand give y. Not documented: `maximum` and `minimum` propagate NaN, and their
result for +0.0 and -0.0 is NumPy's.
"""


def _relu(x: Array, out: Array) -> None:
    np.maximum(x, 0, out=out)


def _rsqrt(x: Array, out: Array) -> None:
    np.sqrt(x, out)
    np.reciprocal(out, out)


UNARY: dict[str, Unary] = {
    "abs": np.absolute,
    "square": np.square,
    "relu": _relu,
    "rsqrt": _rsqrt,
    "reciprocal": np.reciprocal,
}
"""Arithmetic ALU operators of one operand, `f(x, out)`."""


# -- ALU, integers -------------------------------------------------------------------------------


def _integer_abs_max(x: Array, y: Array) -> Array:
    return np.where(np.abs(x) > np.abs(y), x, y)


def _integer_abs_min(x: Array, y: Array) -> Array:
    return np.where(np.abs(x) < np.abs(y), x, y)


INTEGER: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater_equal": np.greater_equal,
    "greater": np.greater,
    "less_equal": np.less_equal,
    "less": np.less,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "abs_max": _integer_abs_max,
    "abs_min": _integer_abs_min,
}
"""Operators in the GpSimd Engine's integer arithmetic, `f(x, y)`.

`power` is computed in float32: the documents promise exact results for integers, but do not define
negative exponents.
"""


# -- ALU, bit patterns ----------------------------------------------------------------------------


def _unsigned(x: Array) -> Array:
    return x.view(f"u{x.dtype.itemsize}")


def _left_shift(x: Array, y: Array, out: Array) -> None:
    np.left_shift(_unsigned(x), _unsigned(y), _unsigned(out))


def _right_shift(x: Array, y: Array, out: Array) -> None:
    np.right_shift(_unsigned(x), _unsigned(y), _unsigned(out))


BITVEC: dict[str, Callable[..., object]] = {
    "invert": np.invert,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "left_shift": _left_shift,
    "right_shift": _right_shift,
}
"""Bitvec ALU operators on integers of one dtype, `f(x, y, out)`; `invert` is `f(x, out)`.

Both shifts are logical and fill with zeros, also in signed types. Negative amounts and amounts of
at least the width are not documented: an amount is read as an unsigned number, and an amount of at
least the width gives 0 (NumPy, unlike C, defines this).
"""


# -- activation functions -------------------------------------------------------------------------

GELU_TANH_CUBIC = 0.044715
"""Weight of x**3 in `gelu_apprx_tanh`: the constant of the original GELU paper."""

GELU_SIGMOID_SLOPE = 1.702
"""The factor of x in `gelu_apprx_sigmoid`: the constant of the original GELU paper."""

SIN_CUBIC_AT_PI = (-1.0, 1.0 / 6.0)
"""Coefficients of t and t**3, t = x - pi, in the polynomial that replaces `sin(x)` above pi.

Below -pi, the function is continued as an odd function. The Scalar Engine does no range reduction,
extrapolates a cubic polynomial outside [-pi, pi], and returns about 27.65 for 9.0. The polynomial
is not published. nkijit assumes the Taylor polynomial of sin at pi, with equal value, slope and
curvature. It gives 27.653 for 9.0, which agrees with all four published digits.
"""

_FAR = 200.0
"""The absolute value of x from which every composite function equals its limit in float32."""

_BLOCK = 1 << 14
"""The number of elements computed at a time in float64: intermediate arrays fit the cache."""


class InDouble:
    """A function computed in float64; see `_in_double`."""

    def __init__(self, function: Reduction, lowest: np.float32, highest: np.float32):
        self._function = function
        self._lowest, self._highest = lowest, highest

    def of_elements(self, x: Any) -> Any:
        """Return the float64 results for float64 elements."""
        return self._function(np.clip(x, self._lowest, self._highest).astype(np.float64))

    def __call__(self, x: Array, out: Array) -> None:
        rows = max(1, _BLOCK * len(x) // max(1, x.size))
        for start in range(0, len(x), rows):
            block = slice(start, start + rows)
            out[block] = self.of_elements(x[block])


def _in_double(function: Reduction, low: float = -math.inf, high: float = math.inf) -> Unary:
    """Return a composite function that computes in float64 and rounds once.

    float32 would lose digits to cancellation and to large arguments of exp. Clipping x to `low` and
    `high`, where the function has reached its limit, avoids products of zero and infinity; NaN is
    not clipped. `function` may overwrite its argument.
    """
    return InDouble(function, np.float32(low), np.float32(high))


def _logistic(x: Array) -> Array:
    """Compute 1 / (1 + exp(-x)) in place."""
    np.negative(x, x)
    np.exp(x, x)
    x += 1
    return np.reciprocal(x, x)


def _gate(slope: float) -> Unary:
    """Return the function x sigmoid(slope x)."""
    return _in_double(lambda x: x * _logistic(slope * x), low=-_FAR)


def _gate_dx(slope: float) -> Unary:
    """Return the derivative of `_gate`: s + slope x s (1 - s), s = sigmoid(slope x)."""

    def function(x: Array) -> Array:
        s = _logistic(slope * x)
        return s * (1 + slope * x * (1 - s))

    return _in_double(function, -_FAR, _FAR)


def _gelu(x: Array) -> Array:
    """Return x P(x), where P is the distribution function of the standard normal distribution."""
    return x * _special().ndtr(x)


def _gelu_dx(x: Array) -> Array:
    """Return P(x) + x p(x), where p is the density of the standard normal distribution."""
    density = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return _special().ndtr(x) + x * density


def _gelu_apprx_tanh(x: Array) -> Array:
    """Return x (1 + tanh(u)) / 2, where u = sqrt(2 / pi) (x + 0.044715 x**3)."""
    u = math.sqrt(2 / math.pi) * x * (1 + GELU_TANH_CUBIC * x * x)
    # (1 + tanh(u)) / 2 is the logistic function of 2u, without cancellation where tanh is near -1.
    return x * _logistic(2 * u)


def _softplus(x: Array) -> Array:
    """Return log(1 + exp(x)), as max(x, 0) + log(1 + exp(-|x|)), which cannot overflow."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.absolute(x)))


def _mish(x: Array) -> Array:
    """Return x tanh(log(1 + e)), e = exp(x), where the tanh is n / (n + 2), n = e (e + 2)."""
    e = np.exp(np.minimum(x, 100.0))  # the quotient is 1 from 40 on, and 10**87 does not overflow
    n = e * (e + 2)
    return x * (n / (n + 2))


def _erf(x: Array, out: Array) -> None:
    _special().erf(x, out)


def _erf_dx(x: Array) -> Array:
    """Return 2 / sqrt(pi) exp(-x**2)."""
    return 2 / math.sqrt(math.pi) * np.exp(-x * x)


def _copy(x: Array, out: Array) -> None:
    out[...] = x


def _prelu(x: Array, relu_param: ArrayOrNumber, out: Array) -> None:
    below = np.multiply(x, relu_param)
    # A slope of zero gives 0 also for -inf, as relu does, instead of NaN.
    np.copyto(below, 0, where=np.logical_and(np.equal(x, -np.inf), np.equal(relu_param, 0)))
    out[...] = np.where(np.less(x, 0), below, x)


def _sin(x: Array, out: Array) -> None:
    outside = np.absolute(x) > math.pi
    far = x[outside].astype(np.float64)  # taken now: `out` may be `x`
    np.sin(x, out)
    if far.size:
        t = np.absolute(far) - math.pi
        linear, cubic = SIN_CUBIC_AT_PI
        out[outside] = np.sign(far) * t * (linear + cubic * t * t)


ACTIVATION: dict[str, Callable[..., object]] = {
    "copy": _copy,
    "square": np.square,
    "sigmoid": _in_double(_logistic),
    "relu": _relu,
    "prelu": _prelu,
    "gelu": _in_double(_gelu, low=-_FAR),
    "gelu_dx": _in_double(_gelu_dx, -_FAR, _FAR),
    "gelu_apprx_tanh": _in_double(_gelu_apprx_tanh, low=-_FAR),
    "gelu_apprx_sigmoid": _gate(GELU_SIGMOID_SLOPE),
    "gelu_apprx_sigmoid_dx": _gate_dx(GELU_SIGMOID_SLOPE),
    "silu": _gate(1.0),
    "silu_dx": _gate_dx(1.0),
    "tanh": np.tanh,
    "softplus": _in_double(_softplus),
    "mish": _in_double(_mish, low=-_FAR),
    "erf": _erf,
    "erf_dx": _in_double(_erf_dx),
    "exp": np.exp,
    "log": _in_double(np.log),
    "sin": _sin,
    "arctan": _in_double(np.arctan),
    "sqrt": np.sqrt,
    "rsqrt": _rsqrt,
    "reciprocal": np.reciprocal,
    "sign": np.sign,
    "abs": np.absolute,
}
"""Activation functions, `f(x, out)`; the parametric function `prelu` is `f(x, relu_param, out)`.

`prelu` is x for x >= 0, else relu_param x, where `relu_param` is a scalar or broadcasts to x. As
in NumPy, `sign` of either zero is +0.0. `log` and `arctan` compute in float64, as NumPy's float32
functions have errors of up to 4 ulp.
"""


# -- reductions along the last axis ---------------------------------------------------------------
#
# Each step is `accumulator = op(accumulator, element)`, element by element. Sums and products may
# use another order (NumPy sums pairwise); all others equal the sequential result exactly. This
# includes +0.0 and -0.0 in maximum and minimum: NumPy's vectorised loops return either the later
# operand or always the same zero.


def _in_rows(x: Array) -> Array:
    """Return the values in a memory layout for which NumPy sums each row separately."""
    return x if x.strides[-1] <= x.strides[0] else np.ascontiguousarray(x)


def _associative(ufunc: np.ufunc) -> tuple[Reduction, Fold]:
    def reduce(x: Array) -> Array:
        return ufunc.reduce(_in_rows(x), axis=-1, keepdims=True)

    def fold(accumulator: Array, x: Array) -> Array:
        return ufunc(accumulator, reduce(x))

    return reduce, fold


def _subtract(x: Array) -> Array:
    return np.subtract.reduce(x, axis=-1, keepdims=True)


def _fold_subtract(accumulator: Array, x: Array) -> Array:
    return _subtract(np.concatenate((accumulator, x), axis=-1))


def _logical(ufunc: np.ufunc) -> tuple[Reduction, Fold]:
    def truth(x: Array) -> Array:
        return ufunc.reduce(x != 0, axis=-1, keepdims=True)

    def reduce(x: Array) -> Array:
        return truth(x).astype(np.float32)

    def fold(accumulator: Array, x: Array) -> Array:
        return ufunc(accumulator != 0, truth(x)).astype(np.float32)

    return reduce, fold


def _extreme_magnitude(sign: int) -> tuple[Reduction, Fold]:
    def fold(accumulator: Array, x: Array) -> Array:
        values = np.concatenate((accumulator, x), axis=-1)
        score = sign * np.absolute(values)
        nan = np.isnan(score)
        if nan.any():
            # A NaN always replaces the accumulator, and the next element always replaces a NaN.
            # So all elements up to the last NaN of a row have no effect.
            survives = np.logical_and.accumulate(~nan[:, ::-1], axis=-1)[:, ::-1]
            score[~survives] = -np.inf
        # The later of two equal elements wins, so search the maximum from the end.
        last = values.shape[-1] - 1 - np.argmax(score[:, ::-1], axis=-1, keepdims=True)
        return np.take_along_axis(values, last, axis=-1)

    def reduce(x: Array) -> Array:
        return fold(x[:, :1], x)  # x op x is x, so the first element may be the accumulator

    return reduce, fold


BITVEC_REDUCE: dict[str, Reduction] = {
    "bitwise_and": _associative(np.bitwise_and)[0],
    "bitwise_or": _associative(np.bitwise_or)[0],
    "bitwise_xor": _associative(np.bitwise_xor)[0],
}
"""Reduction of a (P, N) integer array, N >= 1, to a new (P, 1) of the same dtype, `f(x)`."""

_REDUCTIONS: dict[str, tuple[Reduction, Fold]] = {
    "add": _associative(np.add),
    "subtract": (_subtract, _fold_subtract),
    "multiply": _associative(np.multiply),
    "maximum": _associative(np.maximum),
    "minimum": _associative(np.minimum),
    "logical_and": _logical(np.logical_and),
    "logical_or": _logical(np.logical_or),
    "logical_xor": _logical(np.logical_xor),
    "abs_max": _extreme_magnitude(1),
    "abs_min": _extreme_magnitude(-1),
}

REDUCE: dict[str, Reduction] = {name: reduce for name, (reduce, _) in _REDUCTIONS.items()}
"""Reduction of a (P, N) float32 array, N >= 1, to a new (P, 1), `f(x)`.

The first element is the first accumulator: `x[:, 0] op x[:, 1] op ...`. Logical reductions of a
single element are not documented; they also give 1.0 or 0.0.
"""

FOLD: dict[str, Fold] = {name: fold for name, (_, fold) in _REDUCTIONS.items()}
"""Reduction of a (P, N) float32 array, N >= 1, and a (P, 1) accumulator to a new (P, 1)."""

IDENTITY: dict[str, float] = {
    "add": 0.0,
    "subtract": 0.0,
    "multiply": 1.0,
    "maximum": -math.inf,
    "minimum": math.inf,
    "abs_max": 0.0,
    "abs_min": math.inf,
}
"""The value of an accumulator register after a reset, by its operator.

`subtract`, which has no identity, also starts from 0.
"""


# -- running along the last axis ------------------------------------------------------------------

_ACCUMULATED = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
"""The commutative operators, which NumPy can accumulate element by element."""


def running(word: str) -> Callable[[Array, Array, Array], None]:
    """Return `f(x, initial, out)` with `out[i] = x[i] op out[i - 1]`, after `initial`.

    `initial` has the shape (P, 1), and `out` may be `x`.
    """
    ufunc = _ACCUMULATED.get(word)
    if ufunc is None:
        function = BINARY[word]

        def element_by_element(x: Array, initial: Array, out: Array) -> None:
            rows = transposed(x)
            state = initial[:, 0]
            for row in rows:
                function(row, state, row)
                state = row
            out[...] = rows.T

        return element_by_element

    def accumulated(x: Array, initial: Array, out: Array) -> None:
        if out is not x:
            out[...] = x
        ufunc(out[:, :1], initial, out=out[:, :1])
        ufunc.accumulate(out, axis=1, out=out)

    return accumulated


def transposed(x: Array) -> Array:
    """Return a transposed copy of x: its rows are the steps of a scan."""
    return np.array(x.T, order="C")
