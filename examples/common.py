"""What the examples share: options, seeded inputs, the comparison with NumPy, and the report.

Nothing in here is needed to write a kernel; the other files of this folder can be read without it.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import nki

Array = npt.NDArray[Any]

DTYPES = {"float32": np.dtype(np.float32), "bfloat16": np.dtype(ml_dtypes.bfloat16)}

UNIT = 2.0**-24
"""What rounding to float32 changes at most, as a part of the value."""

SMALLEST = 2.0**-149
"""The smallest float32, twice what rounding changes at most when the value is denormal."""


# ------------------------------------------------------------------ options


@dataclass(frozen=True)
class Options:
    """What an example is run on."""

    rows: int = 1024
    columns: int = 2048
    inner: int = 512
    """The dimension that a matrix product sums over; other examples have none."""
    dtype: str = "float32"
    data: str = "random"
    seed: int = 0


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return number


def parser(description: str | None, defaults: Options) -> argparse.ArgumentParser:
    """The command line of an example."""
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
            help="default %(default)s" + ("; what matmul.py sums over" if name == "inner" else ""),
        )
    result.add_argument("--dtype", choices=DTYPES, default=defaults.dtype)
    result.add_argument(
        "--data",
        choices=("random", "hard"),
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
    have to be where the reference has them.
    """
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
    return Error(difference.max(), relative.max(initial=0.0), of_bound.max())


def sum_error(count: int) -> float:
    """The error of a float32 sum, as a part of the sum of magnitudes.

    Rounding errors partly cancel, whatever the order of the additions: of `count` of them about
    the square root is left. Twice that, because it is not a proof.
    """
    return 2 * UNIT * math.sqrt(count)


# ------------------------------------------------------------------ running


@dataclass(frozen=True)
class Example:
    """A kernel and how to check it."""

    kernel: nki.Kernel
    inputs: Callable[[Options], dict[str, Any]]
    """The kernel's arguments by name, in order."""
    reference: Callable[..., Array]
    """The same computation on whole arrays; called with the kernel's arguments."""
    float32_error: Callable[..., Array]
    """How far float32 arithmetic may be from the reference; called with the same arguments."""

    @property
    def name(self) -> str:
        """The kernel's name, which its files get."""
        return self.kernel.__name__

    def check(self, options: Options) -> tuple[nki.TracedKernel, Error]:
        """Trace and run the kernel, and compare it with its reference."""
        inputs = self.inputs(options)
        traced = self.kernel.trace(**inputs)
        result = self.kernel(**inputs)
        with np.errstate(all="ignore"):
            expected = self.reference(*inputs.values())
            float32_error = self.float32_error(*inputs.values())
        return traced, compare(result, expected, float32_error)


def run(
    examples: Sequence[Example], description: str | None, defaults: Options | None = None
) -> int:
    """The main program of an example; returns the exit code."""
    arguments = vars(parser(description, defaults or Options()).parse_args())
    directory: Path = arguments.pop("out_dir")
    directory.mkdir(parents=True, exist_ok=True)
    options = Options(**arguments)
    failed = 0
    for example in examples:
        try:
            traced, error = example.check(options)
        except nki.NkiValidationError as findings:
            print(f"== {example.name}: the kernel breaks rules of the hardware\n\n{findings}\n")
            failed += 1
            continue
        shapes = ", ".join(
            f"{name} {'x'.join(map(str, shape))} {dtype}"
            for name, shape, dtype in traced.argument_types
        )
        print(f"== {example.name}: {shapes}, {options.data} data, for {traced.target.platform}\n")
        _show("IR", traced.text(), directory / f"{example.name}.mlir", 30)
        _show("listing", traced.listing(), directory / f"{example.name}.listing.txt", 24)
        print(f"findings: {len(traced.diagnostics) or 'none'}")
        print(f"largest error: {error}")
        if error.of_bound > 1:
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
