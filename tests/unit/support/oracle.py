"""The naive second opinion on numerics: one Python number at a time, from the definitions.

Nothing here shares code or algorithms with `nkijit.passes`: float formats are read from their bit
layout, integers are Python's, functions are the textbook formula with `math`. NumPy serves only to
build arrays of test data and to compare arrays of results.

Also helpers for tests of instructions: data full of hard cases (`hard_floats`, `hard_values`,
`hard_array`) and a comparison in units in the last place (`assert_close`).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

# -- data types -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Format:
    """A binary float format with a sign bit, by the widths of its fields."""

    exponent: int
    mantissa: int
    infinity: bool = True
    """The highest exponent means infinity or NaN; if False, only the pattern of ones is NaN."""

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.mantissa

    @property
    def bias(self) -> int:
        return 2 ** (self.exponent - 1) - 1

    @property
    def lowest(self) -> int:
        """The exponent of the smallest normal number."""
        return 1 - self.bias

    @property
    def highest(self) -> int:
        """The exponent of the largest finite number."""
        return 2**self.exponent - (2 if self.infinity else 1) - self.bias

    @property
    def largest(self) -> float:
        """The largest finite number."""
        last = 2.0**-self.mantissa
        return math.ldexp(2 - (last if self.infinity else 2 * last), self.highest)


FORMATS = {
    "float32": Format(8, 23),
    "tfloat32": Format(8, 10),
    "bfloat16": Format(8, 7),
    "float16": Format(5, 10),
    "float8_e4m3": Format(4, 3),
    "float8_e4m3fn": Format(4, 3, infinity=False),
    "float8_e5m2": Format(5, 2),
}

INTEGERS = {
    f"{prefix}int{bits}": (bits, prefix == "") for bits in (8, 16, 32) for prefix in ("", "u")
}
"""Width and signedness."""

ROUNDED_TYPES = ("bool_", *INTEGERS, *FORMATS, "float8_e8m0fnu")
"""Every data type that an engine converts to and from float32."""

NUMPY_TYPES: dict[str, np.dtype[Any]] = {
    "bool_": np.dtype("u1"),
    **{name: np.dtype(name) for name in INTEGERS},
    "float32": np.dtype("f4"),
    "tfloat32": np.dtype("f4"),
    "float16": np.dtype("f2"),
    **{
        name: np.dtype(getattr(ml_dtypes, name))
        for name in (
            "bfloat16",
            "float8_e4m3",
            "float8_e4m3fn",
            "float8_e5m2",
            "float8_e8m0fnu",
        )
    },
}
"""The NumPy type that stores each data type."""


def decode(dtype_name: str, bits: int) -> float | int:
    """Return the value of a bit pattern; a tfloat32 has the 32 bits of a float32."""
    if dtype_name == "bool_":
        return 1 if bits else 0
    if dtype_name in INTEGERS:
        width, signed = INTEGERS[dtype_name]
        return bits - 2**width if signed and bits >= 2 ** (width - 1) else bits
    if dtype_name == "float8_e8m0fnu":
        return math.nan if bits == 0xFF else math.ldexp(1.0, bits - 127)
    layout = FORMATS["float32" if dtype_name == "tfloat32" else dtype_name]
    sign = -1.0 if bits >> (layout.bits - 1) else 1.0
    exponent = (bits >> layout.mantissa) % 2**layout.exponent
    mantissa = bits % 2**layout.mantissa
    all_ones = exponent == 2**layout.exponent - 1
    if all_ones and layout.infinity:
        return math.nan if mantissa else sign * math.inf
    if all_ones and mantissa == 2**layout.mantissa - 1:
        return math.nan
    if exponent == 0:
        return sign * math.ldexp(mantissa, layout.lowest - layout.mantissa)
    return sign * math.ldexp(1 + mantissa / 2**layout.mantissa, exponent - layout.bias)


def round_to(dtype_name: str, value: float | int) -> float | int:
    """The value that `dtype_name` holds after one rounding of `value`, exact before it.

    Floats round to nearest, ties to even; integers also, and saturate, with NaN giving 0.
    """
    if dtype_name == "bool_":
        return 0 if value == 0 else 1
    if dtype_name in INTEGERS:
        width, signed = INTEGERS[dtype_name]
        low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
        if value != value:
            return 0
        if value in (math.inf, -math.inf):
            return high if value > 0 else low
        return min(max(round(value), low), high)
    if value != value:
        return math.nan
    if dtype_name == "float8_e8m0fnu":
        return _round_to_power_of_two(value)
    layout = FORMATS[dtype_name]
    beyond = math.inf if layout.infinity else math.nan
    if value in (math.inf, -math.inf):
        return math.copysign(beyond, value)
    if value == 0:
        return float(value)
    # Count in units of the last place that the format has at this size.
    top = value.bit_length() if isinstance(value, int) else math.frexp(value)[1]
    unit = max(top - 1, layout.lowest) - layout.mantissa
    if isinstance(value, int) and unit > 0:
        count, rest = divmod(abs(value), 2**unit)
        count += rest > 2 ** (unit - 1) or (rest == 2 ** (unit - 1) and count % 2 == 1)
    else:
        count = round(math.ldexp(abs(value), -unit))  # Python's round() takes ties to even
    rounded = math.ldexp(count, unit)
    return math.copysign(beyond if rounded > layout.largest else rounded, value)


def _round_to_power_of_two(value: float | int) -> float:
    """float8_e8m0fnu: powers of two from 2**-127 to 2**127, ties up, nothing else but NaN."""
    if value <= 0 or value >= 1.5 * 2.0**127:
        return math.nan
    if value < 2.0**-126:  # not to nearest, but as ml_dtypes rounds float32 denormals
        return 2.0**-127 if value <= 2.0**-127 else 2.0**-126
    top = value.bit_length() if isinstance(value, int) else math.frexp(value)[1]
    low = math.ldexp(1.0, top - 1)
    return low if value < 1.5 * low else 2 * low


def f32(value: float) -> float:
    """`value` rounded to float32."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


# -- ALU operators --------------------------------------------------------------------------------


def _power(a: float, b: float) -> float:
    odd = math.isfinite(b) and b % 2 == 1
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and odd else math.inf
    except ValueError:
        if a == 0:
            return math.copysign(math.inf, a) if odd else math.inf
        return math.nan


def _larger(a: float, b: float) -> float:
    if a != a or b != b:
        return math.nan
    return a if a > b else b


def _smaller(a: float, b: float) -> float:
    if a != a or b != b:
        return math.nan
    return a if a < b else b


_ALU: dict[str, Callable[[float, float], float]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "maximum": _larger,
    "minimum": _smaller,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "greater_equal": lambda a, b: a >= b,
    "greater": lambda a, b: a > b,
    "less_equal": lambda a, b: a <= b,
    "less": lambda a, b: a < b,
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_xor": lambda a, b: bool(a) != bool(b),
    "power": _power,
    "abs_max": lambda a, b: a if abs(a) > abs(b) else b,
    "abs_min": lambda a, b: a if abs(a) < abs(b) else b,
}


def alu(op: str, a: float, b: float) -> float:
    """`a op b` of two float32 numbers, rounded to float32."""
    return f32(float(_ALU[op](a, b)))


def unary(op: str, a: float) -> float:
    """A one-operand ALU operator on a float32 number, rounded to float32."""
    return f32(activation(op, a))


def bitvec(op: str, a: int, b: int, bits: int, signed: bool) -> int:
    """A bitvec operator on two integers of `bits` bits; `invert` ignores b."""
    modulus = 2**bits
    a, b = a % modulus, b % modulus
    result = {
        "invert": lambda: modulus - 1 - a,
        "bitwise_and": lambda: a & b,
        "bitwise_or": lambda: a | b,
        "bitwise_xor": lambda: a ^ b,
        "left_shift": lambda: a * 2**b % modulus if b < bits else 0,
        "right_shift": lambda: a // 2**b if b < bits else 0,
    }[op]()
    return result - modulus if signed and result >= modulus // 2 else result


def reduce_sequential(op: str, acc: float, xs: Iterable[float], f32: bool = True) -> float:
    """`acc = acc op x` for each x in turn; with `f32`, rounded to float32 after each step."""
    for x in xs:
        acc = alu(op, acc, x) if f32 else float(_ALU[op](acc, x))
    return acc


# -- activation functions -------------------------------------------------------------------------


def _exp(x: float) -> float:
    return math.exp(x) if x < 709 else math.inf


def _logistic(x: float) -> float:
    return 1 / (1 + _exp(-x))


def _softplus(x: float) -> float:
    return x if x > 100 else math.log1p(_exp(x))


def _gated(x: float, slope: float) -> float:
    return x * _logistic(slope * x)


def _gated_dx(x: float, slope: float) -> float:
    # (1 - s) of s = logistic(y) is logistic(-y).
    s, rest = _logistic(slope * x), _logistic(-slope * x)
    return s + slope * x * s * rest


def _sin(x: float) -> float:
    if abs(x) <= f32(math.pi):
        return math.sin(x)
    t = abs(x) - math.pi
    return math.copysign(1.0, x) * (t**3 / 6 - t)


def _rsqrt(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    return math.nan if x < 0 else 1 / math.sqrt(x)


_ACTIVATION: dict[str, Callable[[float], float]] = {
    "copy": lambda x: x,
    "square": lambda x: x * x,
    "sigmoid": _logistic,
    "relu": lambda x: x if x > 0 else 0.0,
    "gelu": lambda x: 0.5 * x * math.erfc(-x / math.sqrt(2)),
    "gelu_dx": lambda x: (
        0.5 * math.erfc(-x / math.sqrt(2)) + x * _exp(-x * x / 2) / math.sqrt(2 * math.pi)
    ),
    # 0.5 * (1 + tanh(u)) == logistic(2 * u)
    "gelu_apprx_tanh": lambda x: x * _logistic(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)),
    "gelu_apprx_sigmoid": lambda x: _gated(x, 1.702),
    "gelu_apprx_sigmoid_dx": lambda x: _gated_dx(x, 1.702),
    "silu": lambda x: _gated(x, 1.0),
    "silu_dx": lambda x: _gated_dx(x, 1.0),
    "tanh": math.tanh,
    "softplus": _softplus,
    "mish": lambda x: x * math.tanh(_softplus(x)),
    "erf": math.erf,
    "erf_dx": lambda x: 2 / math.sqrt(math.pi) * _exp(-x * x),
    "exp": _exp,
    "log": lambda x: math.log(x) if x > 0 else -math.inf if x == 0 else math.nan,
    "sin": _sin,
    "arctan": math.atan,
    "sqrt": lambda x: math.nan if x < 0 else math.sqrt(x),
    "rsqrt": _rsqrt,
    "reciprocal": lambda x: 1 / x if x else math.copysign(math.inf, x),
    "sign": lambda x: float((x > 0) - (x < 0)),
    "abs": abs,
}

_LIMITS: dict[str, tuple[float, float]] = {
    "gelu": (0.0, math.inf),
    "gelu_dx": (0.0, 1.0),
    "gelu_apprx_tanh": (0.0, math.inf),
    "gelu_apprx_sigmoid": (0.0, math.inf),
    "gelu_apprx_sigmoid_dx": (0.0, 1.0),
    "silu": (0.0, math.inf),
    "silu_dx": (0.0, 1.0),
    "mish": (0.0, math.inf),
    "sin": (-math.inf, math.inf),
}
"""At minus and plus infinity, where the formula would not say."""


def activation(op: str, x: float, relu_param: float = 0.0) -> float:
    """An activation function at a float32 number, in float64."""
    if x != x:
        return math.nan
    if op == "prelu":
        if x >= 0:
            return x
        return 0.0 if relu_param == 0 else relu_param * x
    if math.isinf(x) and op in _LIMITS:
        return _LIMITS[op][x > 0]
    return _ACTIVATION[op](x)


# -- hard test data -------------------------------------------------------------------------------

TINY, HUGE = 2.0**-149, (2 - 2.0**-23) * 2.0**127
"""The smallest and the largest float32 above zero."""

SPECIAL = (0.0, 1.0, 1.5, TINY, 2.0**-126, 2.0**-126 - TINY, 1e-20, 1e20, HUGE, math.inf)
"""float32 numbers that are special in themselves; each also with a minus, and NaN."""


@cache
def finite_values(dtype_name: str) -> tuple[float, ...]:
    """Every finite value that is not negative of a float type of 8 or 16 bits, in order."""
    if dtype_name == "float8_e8m0fnu":
        return tuple(float(decode(dtype_name, bits)) for bits in range(255))
    patterns = range(2 ** (FORMATS[dtype_name].bits - 1))
    values = (float(decode(dtype_name, bits)) for bits in patterns)
    return tuple(value for value in values if math.isfinite(value))


@cache
def edges(dtype_name: str) -> tuple[float, ...]:
    """float32 numbers around which rounding to `dtype_name` changes, with their neighbours.

    Ties between neighbours (all of them for 8 bits, else some of every size) and the ends of the
    range, each with the float32 numbers next to it and with both signs.
    """
    if dtype_name == "bool_":
        centres = [0.0, 1.0]
    elif dtype_name in INTEGERS:
        high = 2.0 ** INTEGERS[dtype_name][0]
        halves = [0.5, 1.5, 2.5, 3.5, 126.5, 127.5, 254.5, 255.5]
        centres = [0.0, *halves, high / 2 - 1, high / 2 - 0.5, high / 2, high - 1, high - 0.5, high]
    elif dtype_name == "float32":
        centres = list(SPECIAL[:-1])
    elif dtype_name == "tfloat32":
        spread = [math.ldexp(1.0, e) for e in (-126, -125, -1, 0, 1, 7, 126, 127)]
        odd = [2 * count + 1 for count in (0, 1, 2, 511, 1022, 1023)]
        centres = [s * (1 + o * 2.0**-11) for s in spread for o in odd]
        centres += [o * 2.0**-137 for o in odd]
    else:
        values = finite_values(dtype_name)
        ties = [(a + b) / 2 for a, b in pairwise(values)]
        ties.append(values[-1] + (values[-1] - values[-2]) / 2)
        centres = ties[:: max(1, len(ties) // 300)] + ties[:4] + ties[-4:]
    return _with_neighbours(centres)


def all_ties(dtype_name: str) -> tuple[float, ...]:
    """As `edges`, with every tie of a float type of 8 or 16 bits."""
    values = finite_values(dtype_name)
    ties = [(a + b) / 2 for a, b in pairwise(values)]
    return _with_neighbours(ties)


def _with_neighbours(centres: Sequence[float]) -> tuple[float, ...]:
    middle = np.array(centres, np.float32)
    with np.errstate(over="ignore", under="ignore"):
        near = [middle, np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, -middle)]
    above = np.unique(np.concatenate(near))
    return tuple(np.concatenate([above, -above]).tolist())


def hard_floats(dtype_name: str = "float32") -> st.SearchStrategy[float]:
    """float32 numbers that are hard to compute with and to round to `dtype_name`."""
    special = [sign * value for value in SPECIAL for sign in (1, -1)]
    return st.one_of(
        st.sampled_from([*special, math.nan]),
        st.sampled_from(edges(dtype_name)),
        st.floats(width=32),
        st.floats(-1000, 1000, width=32),
    )


def hard_values(shape: tuple[int, ...], dtype_name: str = "float32", seed: int = 0) -> Any:
    """A float32 array of ordinary numbers, mixed with ones hard to round to `dtype_name`."""
    rng = np.random.default_rng(seed)
    ordinary = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)
    special = [sign * value for value in SPECIAL for sign in (1, -1)]
    hard = rng.choice(np.array([*special, math.nan, *edges(dtype_name)], np.float32), shape)
    return np.where(rng.random(shape) < 0.5, ordinary.astype(np.float32), hard)


def hard_array(shape: tuple[int, ...], dtype_name: str, seed: int = 0, nan: bool = True) -> Any:
    """An array of `dtype_name`: ordinary numbers, mixed with any pattern that the type has.

    Without `nan`, no element is NaN; infinities stay.
    """
    rng = np.random.default_rng(seed)
    kept = NUMPY_TYPES[dtype_name]
    if dtype_name == "bool_":
        return rng.integers(0, 2, shape).astype(kept)
    ordinary = (rng.standard_normal(shape) * 10).astype(np.float32)
    if kept.kind == "u" or dtype_name == "float8_e8m0fnu":
        ordinary = np.abs(ordinary) + np.float32(0.1)
    patterns = rng.integers(0, 2 ** (8 * kept.itemsize), shape, dtype=np.uint64)
    if dtype_name == "tfloat32":
        patterns &= np.uint64(0xFFFFE000)
        ordinary = (ordinary.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    hard = patterns.astype(f"u{kept.itemsize}").view(kept)
    mixed = np.where(rng.random(shape) < 0.7, ordinary.astype(kept), hard)
    if nan or dtype_name in INTEGERS:
        return mixed
    with np.errstate(invalid="ignore"):
        missing = np.isnan(mixed.astype(np.float32))
    return np.where(missing, np.ones((), kept), mixed)


# -- comparison -----------------------------------------------------------------------------------


@np.errstate(invalid="ignore")  # signalling NaN
def assert_close(
    actual: Any,
    expected: Any,
    *,
    ulps: float = 0.0,
    dtype: str = "float32",
    absolute: float = 0.0,
    sign_of_zero: bool = False,
    inputs: Sequence[Any] = (),
) -> None:
    """Fail unless each value is within `ulps` units in the last place of the expected one.

    `dtype` names the float type whose last place counts (at the size of the expected value, no
    smaller than among denormals). NaN equals NaN. A finite value beyond the largest number of the
    type may become infinite when it is within `ulps` of doing so. `absolute` is an alternative
    bound. `inputs` are arrays to quote in the message.
    """
    layout = FORMATS[dtype]
    got = np.atleast_1d(np.asarray(actual).astype(np.float64))
    want = np.atleast_1d(np.asarray(expected, np.float64))
    assert got.shape == want.shape, f"shape {got.shape}, expected {want.shape}"
    exponent = np.frexp(np.where(np.isfinite(want), want, 1.0))[1] - 1
    unit = np.ldexp(1.0, np.clip(exponent, layout.lowest, layout.highest) - layout.mantissa)
    # Infinity is as far away as the number that would have come after the largest.
    end = np.ldexp(1.0, layout.highest + 1)
    error = np.abs(np.clip(got, -end, end) - np.clip(want, -end, end))
    good = ((error <= ulps * unit) | (error <= absolute)) & ~np.isinf(want)
    good |= (got == want) | (np.isnan(got) & np.isnan(want))
    if sign_of_zero:
        good &= (want != 0) | (got != 0) | (np.signbit(got) == np.signbit(want))
    if good.all():
        return
    distance = np.nan_to_num(error / unit)
    worst = np.unravel_index(np.argmax(np.where(good, -1, distance)), got.shape)
    quoted = [float(np.broadcast_to(np.atleast_1d(x), got.shape)[worst]) for x in inputs]
    raise AssertionError(
        f"{np.count_nonzero(~good)} of {good.size} values differ; at {[int(i) for i in worst]}"
        f" for inputs {quoted}: got {float(got[worst])!r}, expected {float(want[worst])!r},"
        f" {distance[worst]:.3g} ulp of {dtype} apart"
    )
