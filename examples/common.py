"""Common parts of the examples: options, seeded inputs, the comparison with NumPy, and the report.

Kernels do not need this module, and the other files of this folder can be read without it.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import nki

Array = npt.NDArray[Any]

DTYPES = {"float32": np.dtype(np.float32), "bfloat16": np.dtype(ml_dtypes.bfloat16)}

DATA = ("random", "hard")
"""Kinds of input data."""

UNIT = 2.0**-24
"""Largest relative error of rounding to float32."""

SMALLEST = 2.0**-149
"""The smallest float32: twice the largest error of rounding a denormal value."""


# ------------------------------------------------------------------ options


@dataclass(frozen=True)
class Options:
    """Sizes and data of an example's inputs.

    The docstring of an example explains its rows, columns and inner dimension.
    """

    rows: int = 1024
    columns: int = 2048
    inner: int = 512
    """The third dimension, of examples that have one; summed over in matrix products."""
    dtype: str = "float32"
    data: str = "random"
    seed: int = 0


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return number


def parser(
    description: str | None, defaults: Options, examples: Sequence[Example]
) -> argparse.ArgumentParser:
    """Return the argument parser of a file with examples."""
    result = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name in ("rows", "columns", "inner"):
        result.add_argument(
            f"--{name}",
            type=_positive,
            metavar="N",
            default=getattr(defaults, name),
            help="default %(default)s",
        )
    dtypes = [name for name in DTYPES if all(name in example.dtypes for example in examples)]
    result.add_argument("--dtype", choices=dtypes, default=defaults.dtype)
    result.add_argument(
        "--data",
        choices=[kind for kind in DATA if all(kind in example.data for example in examples)],
        default=defaults.data,
        help="hard: rows with infinities, NaN, denormals, huge values and so on",
    )
    result.add_argument("--seed", type=int, default=defaults.seed)
    result.add_argument("--out-dir", type=Path, default=Path("build/examples"))
    return result


# ------------------------------------------------------------------ inputs


def values(options: Options, *shape: int, seed: int = 0) -> Array:
    """Return normally distributed values. With `--data hard`, many rows are overwritten."""
    rng = np.random.default_rng([options.seed, seed])
    result = rng.standard_normal(shape, dtype=np.float32).astype(DTYPES[options.dtype])
    if options.data == "hard":
        for index, row in enumerate(result):
            make_hard(row, index + seed, rng)
    return result


def weights(options: Options, *shape: int, seed: int = 1) -> Array:
    """Return parameters of a layer: random values around 1, also with `--data hard`."""
    rng = np.random.default_rng([options.seed, seed])
    drawn = 1 + 0.1 * rng.standard_normal(shape, dtype=np.float32)
    return drawn.astype(DTYPES[options.dtype])


def make_hard(row: Array, kind: int, rng: np.random.Generator) -> None:
    """Overwrite a row with values that often reveal errors; `kind` selects one of 12 kinds."""
    first, second = rng.choice(len(row), 2, replace=len(row) < 2)
    match kind % 12:
        case 0:
            pass  # unchanged: random
        case 1:
            row[first] = np.inf
        case 2:
            row[first] = -np.inf
        case 3:
            row[first], row[second] = np.inf, -np.inf
        case 4:
            row[: len(row) // 2] = -np.inf  # as after a causal mask: whole tiles of -inf
        case 5:
            row[:] = -np.inf
        case 6:
            row[first] = np.nan
        case 7:
            row *= np.array(1e-40, row.dtype)  # denormal in both data types
        case 8:
            row[:] = -0.0
        case 9:
            row[:] = 0.3  # all equal, and no sum of them is exact
        case 10:
            row *= np.array(1e30, row.dtype)  # sums are finite, squares are not
        case _:
            row[:] = ml_dtypes.finfo(row.dtype).max


# ------------------------------------------------------------------ comparing


@dataclass(frozen=True)
class Error:
    """The largest difference between a kernel and its reference."""

    absolute: float
    relative: float
    """For elements whose reference is a normal number."""
    of_bound: float
    """Relative to the bound of rounding errors; above 1 the kernel is wrong."""

    def __str__(self) -> str:
        return (
            f"{self.absolute:.2g} absolute, {self.relative:.2g} relative, "
            f"{self.of_bound:.2f} of the bound for rounding"
        )


def compare(result: Array, expected: Array, float32_error: Array) -> Error:
    """Compare a kernel's result with its reference, element by element.

    The bound is half a unit in the last place of the result's data type, for the rounding of the
    result, plus `float32_error`, the error of computing in float32. Infinities, NaN and integers
    must be equal to the reference.
    """
    if np.issubdtype(result.dtype, np.integer):
        wrong = 0.0 if np.array_equal(result, expected) else math.inf
        return Error(wrong, wrong, wrong)
    limits = ml_dtypes.finfo(result.dtype)
    with np.errstate(all="ignore"):
        got = result.astype(np.float64)
        rounded = expected.astype(result.dtype).astype(np.float64)
        size = np.abs(expected)
        # Values that are not finite must be equal; their difference would be NaN.
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        same &= ~np.isfinite(rounded)
        difference = np.where(same, 0, np.abs(got - expected))
        difference[np.isnan(difference)] = np.inf
        bound = float(limits.eps) / 2 * size + float32_error
        bound += 4 * float(limits.smallest_subnormal)  # a few roundings of denormal numbers
        of_bound = np.where(same, 0, difference / bound)
        of_bound[np.isnan(of_bound)] = np.inf
        normal = (size >= float(limits.smallest_normal)) & np.isfinite(rounded)
        relative = difference[normal] / size[normal]
    return Error(float(difference.max()), float(relative.max(initial=0.0)), float(of_bound.max()))


def sum_error(count: int) -> float:
    """Return the error of a float32 sum of `count` values, relative to the sum of magnitudes.

    Rounding errors partly cancel in any order of the additions: `count` of them add up to about
    sqrt(count) errors. The bound is twice that, as this is an estimate.
    """
    return 2 * UNIT * math.sqrt(count)


# ------------------------------------------------------------------ running


@dataclass(frozen=True)
class Reference:
    """A computation in NumPy that a kernel's result is compared with."""

    values: Callable[..., Any]
    """Computes the expected results on whole arrays. Takes the kernel's arguments and returns the
    same number of arrays as the kernel."""
    float32_error: Callable[..., Any]
    """Returns the largest error of float32 arithmetic per element. Takes the same arguments."""

    def compare(self, results: Sequence[Array], inputs: Mapping[str, Any]) -> Error:
        """Return the largest error over all results of the kernel."""
        with np.errstate(all="ignore"):
            expected = _tuple(self.values(*inputs.values()))
            float32_errors = _tuple(self.float32_error(*inputs.values()))
        errors = [
            dataclasses.astuple(compare(*parts))
            for parts in zip(results, expected, float32_errors, strict=True)
        ]
        return Error(*map(max, zip(*errors, strict=True)))


@dataclass(frozen=True)
class Report:
    """The result of checking an example."""

    traced: nki.TracedKernel
    error: Error
    others: dict[str, Error]
    """Errors relative to the example's other references."""
    seconds: dict[str, float]
    """Times of tracing, verification and the run."""

    @property
    def worst(self) -> Error:
        """The largest error relative to its bound."""
        return max([self.error, *self.others.values()], key=lambda error: error.of_bound)


@dataclass(frozen=True)
class Example:
    """A kernel and how to check it."""

    kernel: nki.Kernel
    inputs: Callable[[Options], dict[str, Any]]
    """The kernel's arguments by name, in order."""
    reference: Callable[..., Any]
    float32_error: Callable[..., Any]
    """Both as in `Reference`."""
    others: Mapping[str, Reference] = dataclasses.field(default_factory=dict[str, Reference])
    """Further references, with descriptions."""
    small: Options = Options(rows=256, columns=1024, inner=256)
    """A size that covers every path of the kernel; also the size of the golden files."""
    production: Options = Options(columns=4096)
    """A size from models."""
    dtypes: tuple[str, ...] = tuple(DTYPES)
    data: tuple[str, ...] = DATA
    """Data types and kinds of data that the kernel supports."""
    any_size: bool = True
    """Whether sizes may be other than multiples of a tile."""

    @property
    def name(self) -> str:
        """The kernel's name, which is also that of its files."""
        return self.kernel.__name__

    def check(self, options: Options) -> Report:
        """Trace, verify and run the kernel, and compare it with its references."""
        # Kernels may write their inputs, so references get a copy.
        inputs, pristine = self.inputs(options), self.inputs(options)
        start = time.perf_counter()
        traced = self.kernel.trace(**inputs)
        end_of_trace = time.perf_counter()
        traced.verify()
        end_of_verification = time.perf_counter()
        results = _tuple(self.kernel(**inputs))
        seconds = {
            "trace": end_of_trace - start,
            "verify": end_of_verification - end_of_trace,
            "run": time.perf_counter() - end_of_verification,
        }
        error = Reference(self.reference, self.float32_error).compare(results, pristine)
        others = {
            name: reference.compare(results, pristine) for name, reference in self.others.items()
        }
        return Report(traced, error, others, seconds)


def _tuple(values: Any) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,)


def run(
    examples: Sequence[Example], description: str | None, defaults: Options | None = None
) -> int:
    """Run the main program of an example. Returns the exit code."""
    arguments = vars(parser(description, defaults or Options(), examples).parse_args())
    directory: Path = arguments.pop("out_dir")
    directory.mkdir(parents=True, exist_ok=True)
    options = Options(**arguments)
    failed = 0
    for example in examples:
        try:
            report = example.check(options)
        except nki.NkiValidationError as findings:
            print(f"== {example.name}: the kernel breaks rules of the hardware\n\n{findings}\n")
            failed += 1
            continue
        traced = report.traced
        shapes = ", ".join(
            f"{name} {'x'.join(map(str, shape))} {dtype}"
            for name, shape, dtype in traced.argument_types
        )
        print(f"== {example.name}: {shapes}, {options.data} data, for {traced.target.platform}\n")
        _show("IR", traced.text(), directory / f"{example.name}.mlir", 30)
        _show("listing", traced.listing(), directory / f"{example.name}.listing.txt", 24)
        print(f"findings: {len(traced.diagnostics) or 'none'}")
        print("seconds:", ", ".join(f"{what} {time:.2f}" for what, time in report.seconds.items()))
        print(f"largest error: {report.error}")
        for name, error in report.others.items():
            print(f"against the {name}: {error}")
        if report.worst.of_bound > 1:
            print("WRONG: the difference from NumPy exceeds the bound for rounding")
            failed += 1
        print()
    return 1 if failed else 0


def _show(what: str, text: str, path: Path, lines: int) -> None:
    """Write a text to a file, and print its first lines."""
    path.write_text(text, encoding="utf-8")
    every = text.splitlines()
    print(f"-- {what}, written to {path}\n")
    print("\n".join(line if len(line) <= 150 else f"{line[:147]}..." for line in every[:lines]))
    if len(every) > lines:
        print(f"... {len(every) - lines} more lines")
    print()
