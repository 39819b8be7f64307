"""What the examples share: options, seeded inputs, the comparison with NumPy, and the report.

Nothing in here is needed to write a kernel; the other files of this folder can be read without it.
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
"""What the inputs are filled with."""

UNIT = 2.0**-24
"""What rounding to float32 changes at most, as a part of the value."""

SMALLEST = 2.0**-149
"""The smallest float32, twice what rounding changes at most when the value is denormal."""


# ------------------------------------------------------------------ options


@dataclass(frozen=True)
class Options:
    """What an example is run on.

    What rows and columns are in a model, an example says in its first lines.
    """

    rows: int = 1024
    columns: int = 2048
    inner: int = 512
    """The third dimension, of examples that have one: what a matrix product sums over."""
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
    """The command line of a file with examples."""
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
        help="hard: with rows of infinities, NaN, denormals, huge values and so on",
    )
    result.add_argument("--seed", type=int, default=defaults.seed)
    result.add_argument("--out-dir", type=Path, default=Path("build/examples"))
    return result


# ------------------------------------------------------------------ inputs


def values(options: Options, *shape: int, seed: int = 0) -> Array:
    """Normally distributed values; with `--data hard` many rows are overwritten."""
    rng = np.random.default_rng([options.seed, seed])
    result = rng.standard_normal(shape, dtype=np.float32).astype(DTYPES[options.dtype])
    if options.data == "hard":
        for index, row in enumerate(result):
            make_hard(row, index + seed, rng)
    return result


def weights(options: Options, *shape: int, seed: int = 1) -> Array:
    """Parameters of a layer, around 1; never hard."""
    rng = np.random.default_rng([options.seed, seed])
    drawn = 1 + 0.1 * rng.standard_normal(shape, dtype=np.float32)
    return drawn.astype(DTYPES[options.dtype])


def make_hard(row: Array, kind: int, rng: np.random.Generator) -> None:
    """Overwrite a row with values that kernels get wrong; `kind` says which."""
    first, second = rng.choice(len(row), 2, replace=len(row) < 2)
    match kind % 12:
        case 0:
            pass  # stays random
        case 1:
            row[first] = np.inf
        case 2:
            row[first] = -np.inf
        case 3:
            row[first], row[second] = np.inf, -np.inf
        case 4:
            row[: len(row) // 2] = -np.inf  # what a causal mask leaves: whole tiles of -inf
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
    """Where the reference is a normal number."""
    of_bound: float
    """As a part of what rounding explains; beyond 1 the kernel is wrong."""

    def __str__(self) -> str:
        return (
            f"{self.absolute:.2g} absolute, {self.relative:.2g} relative, "
            f"{self.of_bound:.2f} of what rounding explains"
        )


def compare(result: Array, expected: Array, float32_error: Array) -> Error:
    """Compare a kernel's result with its reference, element by element.

    The bound is half a unit in the last place of the result's data type, for the one rounding of
    the result, and `float32_error`, what computing in float32 may add. Infinities and NaN
    have to be where the reference has them, and integers have to be equal.
    """
    if np.issubdtype(result.dtype, np.integer):
        wrong = 0.0 if np.array_equal(result, expected) else math.inf
        return Error(wrong, wrong, wrong)
    limits = ml_dtypes.finfo(result.dtype)
    with np.errstate(all="ignore"):
        got = result.astype(np.float64)
        rounded = expected.astype(result.dtype).astype(np.float64)
        size = np.abs(expected)
        # What is not finite has to be the same; a difference would be NaN.
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
    """The error of a float32 sum, as a part of the sum of magnitudes.

    Rounding errors partly cancel, whatever the order of the additions: of `count` of them about
    the square root is left. Twice that, because it is not a proof.
    """
    return 2 * UNIT * math.sqrt(count)


# ------------------------------------------------------------------ running


@dataclass(frozen=True)
class Reference:
    """A computation in NumPy that a kernel's result is compared with."""

    values: Callable[..., Any]
    """The same computation on whole arrays; called with the kernel's arguments. As many arrays as
    the kernel returns."""
    float32_error: Callable[..., Any]
    """How far float32 arithmetic may be from the reference; called with the same arguments."""

    def compare(self, results: Sequence[Array], inputs: Mapping[str, Any]) -> Error:
        """The largest error over all results of the kernel."""
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
    """What came out of an example."""

    traced: nki.TracedKernel
    error: Error
    others: dict[str, Error]
    """Compared with the example's other references."""
    seconds: dict[str, float]
    """How long tracing, verifying and running took."""

    @property
    def worst(self) -> Error:
        """The error that is most of what rounding explains."""
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
    """Further references, by what they are."""
    small: Options = Options(rows=256, columns=1024, inner=256)
    """Enough for every path through the kernel; also the size of the golden files."""
    production: Options = Options(columns=4096)
    """As large as in a model."""
    dtypes: tuple[str, ...] = tuple(DTYPES)
    data: tuple[str, ...] = DATA
    """Data types and data that the kernel is made for."""
    any_size: bool = True
    """It takes sizes that are no multiple of a tile."""

    @property
    def name(self) -> str:
        """The kernel's name, which its files get."""
        return self.kernel.__name__

    def check(self, options: Options) -> Report:
        """Trace, verify and run the kernel, and compare it with its references."""
        # Kernels may write their inputs, so references get their own.
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
    """The main program of an example; returns the exit code."""
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
            print("WRONG: the result is further from NumPy than rounding explains")
            failed += 1
        print()
    return 1 if failed else 0


def _show(what: str, text: str, path: Path, lines: int) -> None:
    """Write a text to a file and its beginning to the terminal."""
    path.write_text(text, encoding="utf-8")
    every = text.splitlines()
    print(f"-- {what}, written to {path}\n")
    print("\n".join(line if len(line) <= 150 else f"{line[:147]}..." for line in every[:lines]))
    if len(every) > lines:
        print(f"... {len(every) - lines} more lines")
    print()
