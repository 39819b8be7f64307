"""What the operators of the ALU and the activation functions compute, on float32 arrays.

The tables here have the keys of `nkijit.dialects.operators.OPERATORS` and hold the NumPy function
of each. Values are float32 (engines convert what they read), bit patterns are integer arrays of
one dtype; rounding to the destination is `numerics`. Every function writes into `out`, which may
be the very array of an operand, and is vectorised over any shape that broadcasts.

IEEE 754 exceptions are not errors here: run under `np.errstate(all="ignore")`, once around a plan.

Sources: tables "Supported Math Operators" and "Supported Activation Functions" of the public API
reference (nki.api.shared), with its note on `sin`; the reference pages of `abs_max` and `abs_min`.
The Scalar Engine approximates activation functions by piecewise polynomials that are not
published. Here is the function itself and its limit at the infinities, within 2 units in the last
place of float32 (3 for `exp`, which is NumPy's). Inputs outside a function's documented valid
range get the same treatment, `sin` excepted. NaN gives NaN unless stated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Operand = Array | np.float32

Unary = Callable[[Array, Array], object]
"""`f(x, out)`"""

Binary = Callable[[Operand, Operand, Array], object]
"""`f(x, y, out)`"""

Reduction = Callable[[Array], Array]
"""`f(x)`: (P, N) to (P, 1), for N >= 1"""

Fold = Callable[[Array, Array], Array]
"""`f(accumulator, x)`: (P, 1) and (P, N) to a new (P, 1)"""


@cache
def _special() -> Any:
    # Importing it takes longer than everything else here; most kernels need none of it.
    return import_module("scipy.special")


# -- ALU, arithmetic ------------------------------------------------------------------------------


def _maximum(x: Operand, y: Operand, out: Array) -> None:
    np.maximum(x, y, out=out)  # NumPy deprecates a positional `out` for this one


def _minimum(x: Operand, y: Operand, out: Array) -> None:
    np.minimum(x, y, out=out)


def _logical_and(x: Operand, y: Operand, out: Array) -> None:
    out[...] = np.bitwise_and(np.not_equal(x, 0), np.not_equal(y, 0))


def _logical_or(x: Operand, y: Operand, out: Array) -> None:
    out[...] = np.bitwise_or(np.not_equal(x, 0), np.not_equal(y, 0))


def _logical_xor(x: Operand, y: Operand, out: Array) -> None:
    out[...] = np.not_equal(np.not_equal(x, 0), np.not_equal(y, 0))


def _abs_max(x: Operand, y: Operand, out: Array) -> None:
    out[...] = np.where(np.greater(np.absolute(x), np.absolute(y)), x, y)


def _abs_min(x: Operand, y: Operand, out: Array) -> None:
    out[...] = np.where(np.less(np.absolute(x), np.absolute(y)), x, y)


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

Comparisons and logical operators give 1.0 or 0.0; a logical operand is true when it is not zero,
so NaN is true. `abs_max` is documented as `x if |x| > |y| else y`, `abs_min` likewise with `<`:
ties and NaN on either side give y. The documents are silent on NaN in `maximum` and `minimum`,
which propagate it, and on which zero they give for +0.0 and -0.0, which is left to NumPy.
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

Both shifts are logical and fill with zeros, also in signed types. The documents are silent on
amounts that are negative or not below the width: an amount is read as an unsigned number, and one
not below the width shifts every bit out and leaves 0 (which NumPy, unlike C, defines).
"""


# -- activation functions -------------------------------------------------------------------------
#
# The composite ones compute in float64 and round once: float32 would lose digits to cancellation
# and to the exponents of exp. Arguments are first cut off at ±_FAR, where each function has long
# reached its limit to the last bit of float32, so that no zero is multiplied by an infinity.

_FAR = 200.0

GELU_TANH_CUBIC = 0.044715
"""Weight of x**3 in `gelu_apprx_tanh`: the constant of the original GELU paper."""

GELU_SIGMOID_SLOPE = 1.702
"""The factor of x in `gelu_apprx_sigmoid`: the constant of the original GELU paper."""

SIN_CUBIC_AT_PI = (-1.0, 1.0 / 6.0)
"""Coefficients of t and t**3, t = x - pi, that continue `sin` beyond pi (and oddly below -pi).

Known: the Scalar Engine does no range reduction, extrapolates a cubic outside [-pi, pi], and
returns about 27.65 for 9.0. Not known: the cubic. This one is the Taylor polynomial of sin at pi,
so value, slope and curvature join at pi, and it gives 27.653 for 9.0: a guess that meets all four
published digits.
"""


def _double(x: Array, low: float = -math.inf, high: float = math.inf) -> Array:
    """A new float64 array: `x` cut off at `low` and `high`, with NaN kept."""
    return np.clip(x, np.float32(low), np.float32(high)).astype(np.float64)


def _logistic(x: Array) -> Array:
    """1 / (1 + exp(-x)) of a float64 array, which it overwrites."""
    np.negative(x, x)
    np.exp(x, x)
    x += 1
    return np.reciprocal(x, x)


def _copy(x: Array, out: Array) -> None:
    out[...] = x


def _prelu(x: Array, relu_param: Operand, out: Array) -> None:
    slope = np.multiply(x, relu_param)
    # A slope of zero stays at zero all the way down, as relu does.
    np.copyto(slope, 0, where=np.logical_and(np.isinf(x), np.equal(relu_param, 0)))
    out[...] = np.where(x < 0, slope, x)


def _log(x: Array, out: Array) -> None:
    out[...] = np.log(x.astype(np.float64))  # NumPy's float32 logarithm is off by up to 4 ulp


def _arctan(x: Array, out: Array) -> None:
    out[...] = np.arctan(x.astype(np.float64))


def _sin(x: Array, out: Array) -> None:
    outside = np.absolute(x) > math.pi
    far = x[outside].astype(np.float64)  # taken now: `out` may be `x`
    np.sin(x, out)
    if far.size:
        beyond = np.absolute(far) - math.pi
        linear, cubic = SIN_CUBIC_AT_PI
        out[outside] = np.sign(far) * beyond * (linear + cubic * beyond * beyond)


def _sigmoid(x: Array, out: Array) -> None:
    out[...] = _logistic(x.astype(np.float64))


def _gate(x: Array, slope: float, out: Array) -> None:
    """x sigmoid(slope x)"""
    wide = _double(x, low=-_FAR)
    out[...] = wide * _logistic(slope * wide)


def _gate_dx(x: Array, slope: float, out: Array) -> None:
    """The derivative of `_gate`: s + slope x s (1 - s), s = sigmoid(slope x)"""
    scaled = slope * _double(x, -_FAR, _FAR)
    gate = _logistic(scaled.copy())
    out[...] = gate * (1 + scaled * (1 - gate))


def _silu(x: Array, out: Array) -> None:
    _gate(x, 1.0, out)


def _silu_dx(x: Array, out: Array) -> None:
    _gate_dx(x, 1.0, out)


def _gelu_apprx_sigmoid(x: Array, out: Array) -> None:
    _gate(x, GELU_SIGMOID_SLOPE, out)


def _gelu_apprx_sigmoid_dx(x: Array, out: Array) -> None:
    _gate_dx(x, GELU_SIGMOID_SLOPE, out)


def _gelu_apprx_tanh(x: Array, out: Array) -> None:
    """x (1 + tanh u) / 2, u = sqrt(2 / pi) (x + 0.044715 x**3)"""
    wide = _double(x, low=-_FAR)
    u = math.sqrt(2 / math.pi) * wide * (1 + GELU_TANH_CUBIC * wide * wide)
    # (1 + tanh u) / 2 is the logistic function of 2u, which does not cancel where tanh nears -1.
    out[...] = wide * _logistic(2 * u)


def _gelu(x: Array, out: Array) -> None:
    """x Phi(x), Phi the distribution function of the standard normal distribution"""
    wide = _double(x, low=-_FAR)
    out[...] = wide * _special().ndtr(wide)


def _gelu_dx(x: Array, out: Array) -> None:
    """Phi(x) + x phi(x), phi the density of the standard normal distribution"""
    wide = _double(x, -_FAR, _FAR)
    density = np.exp(-0.5 * wide * wide) / math.sqrt(2 * math.pi)
    out[...] = _special().ndtr(wide) + wide * density


def _softplus(x: Array, out: Array) -> None:
    """log(1 + exp(x)), as max(x, 0) + log(1 + exp(-|x|)), which cannot overflow"""
    wide = x.astype(np.float64)
    tail = np.log1p(np.exp(-np.absolute(wide)))
    out[...] = np.maximum(wide, 0) + tail


def _mish(x: Array, out: Array) -> None:
    """x tanh(softplus(x)), where tanh(log(1 + e)) = n / (n + 2), n = e (e + 2), e = exp(x)"""
    wide = _double(x, low=-_FAR)
    e = np.exp(np.minimum(wide, 0.5 * _FAR))
    n = e * (e + 2)
    out[...] = wide * (n / (n + 2))


def _erf(x: Array, out: Array) -> None:
    _special().erf(x, out)


def _erf_dx(x: Array, out: Array) -> None:
    wide = x.astype(np.float64)
    out[...] = 2 / math.sqrt(math.pi) * np.exp(-wide * wide)


ACTIVATION: dict[str, Unary] = {
    "copy": _copy,
    "square": np.square,
    "sigmoid": _sigmoid,
    "relu": _relu,
    "gelu": _gelu,
    "gelu_dx": _gelu_dx,
    "gelu_apprx_tanh": _gelu_apprx_tanh,
    "gelu_apprx_sigmoid": _gelu_apprx_sigmoid,
    "gelu_apprx_sigmoid_dx": _gelu_apprx_sigmoid_dx,
    "silu": _silu,
    "silu_dx": _silu_dx,
    "tanh": np.tanh,
    "softplus": _softplus,
    "mish": _mish,
    "erf": _erf,
    "erf_dx": _erf_dx,
    "exp": np.exp,
    "log": _log,
    "sin": _sin,
    "arctan": _arctan,
    "sqrt": np.sqrt,
    "rsqrt": _rsqrt,
    "reciprocal": np.reciprocal,
    "sign": np.sign,
    "abs": np.absolute,
}
"""Activation functions without a parameter, `f(x, out)`.

As in NumPy, `sign` of either zero is +0.0 and of NaN is NaN.
"""

PARAMETRIC_ACTIVATION: dict[str, Callable[[Array, Operand, Array], object]] = {"prelu": _prelu}
"""Activation functions that read `relu_param`, `f(x, relu_param, out)`.

`relu_param` is a scalar or broadcasts to `x`. `prelu` is x where x >= 0, else relu_param x.
"""


# -- reductions along the last axis ---------------------------------------------------------------
#
# Each step is `accumulator = op(accumulator, element)`, element by element. Sums and products may
# be taken in another order (NumPy sums pairwise); the others give exactly the sequential result.


# What a reduction gives without an accumulator starts from the first element.


def _associative(ufunc: np.ufunc) -> tuple[Reduction, Fold]:
    def reduce(x: Array) -> Array:
        return ufunc.reduce(x, axis=-1, keepdims=True)

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


def _extreme(ufunc: np.ufunc) -> tuple[Reduction, Fold]:
    def fold(accumulator: Array, x: Array) -> Array:
        result = ufunc(accumulator, ufunc.reduce(x, axis=-1, keepdims=True))
        if not result.all():
            # Which of +0.0 and -0.0 wins depends on the order, so these rows go step by step.
            rows = (result == 0)[:, 0]
            steps = np.concatenate((accumulator[rows], x[rows]), axis=-1)
            result[rows] = ufunc.accumulate(steps, axis=-1)[:, -1:]
        return result

    return _from_first(fold), fold


def _extreme_magnitude(sign: int) -> tuple[Reduction, Fold]:
    def fold(accumulator: Array, x: Array) -> Array:
        values = np.concatenate((accumulator, x), axis=-1)
        score = sign * np.absolute(values)
        nan = np.isnan(score)
        if nan.any():
            # NaN loses no comparison as the element and wins none as the accumulator: whatever
            # comes up to the last NaN of a row is forgotten.
            survives = np.logical_and.accumulate(~nan[:, ::-1], axis=-1)[:, ::-1]
            score[~survives] = -np.inf
        # The later of two equals wins, so the first maximum seen from the end.
        last = values.shape[-1] - 1 - np.argmax(score[:, ::-1], axis=-1, keepdims=True)
        return np.take_along_axis(values, last, axis=-1)

    return _from_first(fold), fold


def _from_first(fold: Fold) -> Reduction:
    """The reduction that starts from the first element, where folding it twice is folding once."""

    def reduce(x: Array) -> Array:
        return fold(x[:, :1], x)

    return reduce


_REDUCTIONS: dict[str, tuple[Reduction, Fold]] = {
    "bitwise_and": _associative(np.bitwise_and),
    "bitwise_or": _associative(np.bitwise_or),
    "bitwise_xor": _associative(np.bitwise_xor),
    "add": _associative(np.add),
    "subtract": (_subtract, _fold_subtract),
    "multiply": _associative(np.multiply),
    "maximum": _extreme(np.maximum),
    "minimum": _extreme(np.minimum),
    "logical_and": _logical(np.logical_and),
    "logical_or": _logical(np.logical_or),
    "logical_xor": _logical(np.logical_xor),
    "abs_max": _extreme_magnitude(1),
    "abs_min": _extreme_magnitude(-1),
}

REDUCE: dict[str, Reduction] = {name: reduce for name, (reduce, _) in _REDUCTIONS.items()}
"""Reduction of a (P, N) array, N >= 1, to a new (P, 1), `f(x)`: `x[:, 0] op x[:, 1] op ...`.

float32 in and out; the bitvec operators reduce integers and keep their dtype. The documents are
silent on logical reductions of a single element: it gives 1.0 or 0.0 too.
"""

FOLD: dict[str, Fold] = {name: fold for name, (_, fold) in _REDUCTIONS.items()}
"""Reduction of a (P, N) array, N >= 1, into a (P, 1) accumulator, `f(accumulator, x)`."""

IDENTITY: dict[str, float] = {
    "add": 0.0,
    "maximum": -math.inf,
    "minimum": math.inf,
    "abs_max": 0.0,
    "abs_min": math.inf,
}
"""What resetting an accumulator register leaves in it, by the operator it accumulates with."""


def fold(op: str, accumulator: Array, x: Array) -> Array:
    """The (P, 1) accumulator after `accumulator = op(accumulator, x[:, i])` for i = 0, 1, ...

    A new array; `FOLD[op]` is the same function bound to its operator.
    """
    return FOLD[op](accumulator, x)
