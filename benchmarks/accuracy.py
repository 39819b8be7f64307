"""Measure the errors of activation functions, in units in the last place of float32.

`python -m benchmarks.accuracy` prints the table of docs/speed.md. Functions that are computed in
float32 are compared with float64 on all inputs. Functions that are computed in float64 and rounded
once are compared with an 80-bit `longdouble` on every 251st input.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table
from scipy import special

from nkijit.passes.numerics.operators import (
    ACTIVATION,
    GELU_SIGMOID_SLOPE,
    GELU_TANH_CUBIC,
    InDouble,
)

Array = npt.NDArray[Any]
BLOCK = 1 << 22
STRIDE = 251
"""Distance of inputs of functions that are computed in float64. A prime, so mantissas vary."""


def _logistic(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _gate(slope: float) -> Callable[[Array], Array]:
    return lambda x: x * _logistic(slope * x)


def _gate_dx(slope: float) -> Callable[[Array], Array]:
    def derivative(x: Array) -> Array:
        s = _logistic(slope * x)
        return s + slope * x * s * (1 - s)

    return derivative


def _tanh_gelu(x: Array) -> Array:
    inner = np.sqrt(np.longdouble(2) / np.longdouble(np.pi)) * (x + GELU_TANH_CUBIC * x**3)
    return x * _logistic(2 * inner)


def _half_erfc(x: Array) -> Array:
    """The distribution function of the standard normal distribution."""
    return special.erfc(-(x / np.sqrt(np.longdouble(2))).astype(np.float64)).astype(x.dtype) / 2


def _gelu_dx(x: Array) -> Array:
    density = np.exp(-x * x / 2) / np.sqrt(2 * np.longdouble(np.pi))
    return _half_erfc(x) + x * density


def _softplus(x: Array) -> Array:
    return np.logaddexp(x, np.longdouble(0))


REFERENCE: dict[str, Callable[[Array], Array]] = {
    "sigmoid": _logistic,
    "silu": _gate(1.0),
    "silu_dx": _gate_dx(1.0),
    "gelu": lambda x: x * _half_erfc(x),
    "gelu_dx": _gelu_dx,
    "gelu_apprx_sigmoid": _gate(GELU_SIGMOID_SLOPE),
    "gelu_apprx_sigmoid_dx": _gate_dx(GELU_SIGMOID_SLOPE),
    "gelu_apprx_tanh": _tanh_gelu,
    "softplus": _softplus,
    "mish": lambda x: x * np.tanh(_softplus(x)),
    "erf_dx": lambda x: 2 / np.sqrt(np.longdouble(np.pi)) * np.exp(-x * x),
    "log": np.log,
    "arctan": np.arctan,
    "exp": np.exp,
    "tanh": np.tanh,
    "erf": special.erf,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
}
"""The functions in higher precision, implemented independently of those that kernels use."""


@dataclass(frozen=True)
class Error:
    """The largest error of a function."""

    ulp: float
    at: float
    """The input with this error."""


def largest_error(name: str, bits: Sequence[int]) -> Error:
    """Return the largest error on the inputs with the given bit patterns."""
    function = ACTIVATION[name]
    x = np.asarray(bits, np.uint32).view(np.float32).reshape(1, -1)
    x = x[:, np.isfinite(x[0])]
    if not x.size:
        return Error(0.0, 0.0)
    out = np.empty_like(x)
    wide = np.longdouble if isinstance(function, InDouble) else np.float64
    with np.errstate(all="ignore"):
        function(x, out)
        exact = REFERENCE[name](x.astype(wide))
        nearest = exact.astype(np.float32)
        # The unit is the spacing of float32 at the rounded result.
        unit = np.spacing(np.minimum(np.abs(nearest), np.finfo(np.float32).max)).astype(wide)
        error = np.abs(out.astype(wide) - exact) / unit
        # Infinite results and NaN are either equal or wrong.
        same = (out == nearest) | (np.isnan(out) & np.isnan(nearest))
        error = np.where(np.isfinite(out) & np.isfinite(nearest), error, np.where(same, 0, np.inf))
    place = int(np.argmax(error))
    return Error(float(error.flat[place]), float(x.flat[place]))


def _of_block(name: str, start: int, stride: int) -> Error:
    end = min(start + BLOCK * stride, 1 << 32)
    return largest_error(name, np.arange(start, end, stride, dtype=np.uint64).astype(np.uint32))


def measured(name: str, stride: int, pool: ProcessPoolExecutor) -> Error:
    """Return the largest error of a function on every `stride`th input."""
    starts = range(0, 1 << 32, BLOCK * stride)
    count = len(starts)
    found = pool.map(_of_block, [name] * count, starts, [stride] * count)
    return max(found, key=lambda error: error.ulp)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="use every Nth input")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    options = parser.parse_args()
    table = Table("function", "computed in", "inputs", "largest error, ulp", "at")
    with ProcessPoolExecutor(options.jobs) as pool:
        for name in REFERENCE:
            double = isinstance(ACTIVATION[name], InDouble)
            stride = options.every * (STRIDE if double else 1)
            error = measured(name, stride, pool)
            inputs = "all" if stride == 1 else f"every {stride}th"
            kind = "float64" if double else "float32"
            table.add_row(name, kind, inputs, f"{error.ulp:.3f}", f"{error.at:.9g}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
