"""Random kernels with one change: a constant, an index, an operator, an operand or a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
from xdsl.utils.exceptions import ParseError, VerifyException

from nkijit.dialects.access import ViewError
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.ir.text import launches_of, parse
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.interpret.run.launch import Launch
from nkijit.testing.inputs import random_inputs
from nkijit.traced.kernel import TracedKernel

_FLOAT = re.compile(r"(?<=arith\.constant )-?\d\.\d+e[+-]\d+|(?<=value=)-?[\d.]+(?:e[+-]?\d+)?")
_OPERATORS = ("add", "subtract", "multiply", "maximum", "minimum")
_FUNCTIONS = ("exp", "tanh", "sigmoid", "relu", "square", "abs", "copy")
_WORD = re.compile(r"(?<=op=|p0=|p1=)\w+")
_SWAPPED = re.compile(r"(data1|operand0|data)=(%[\w.]+)(.*?)(data2|operand1)=(%[\w.]+)")
_NUMBERS = re.compile(r"(?<=[\[ ,+])\d+(?=[\], ])")


def _constant(rng: Random, line: str) -> str:
    return _FLOAT.sub(lambda found: f"{float(found.group()) * 0.5 + 1.25:.6e}", line, count=1)


def _operator(rng: Random, line: str) -> str:
    found = list(_WORD.finditer(line))
    if not found:
        return line
    match = rng.choice(found)
    for words in (_OPERATORS, _FUNCTIONS):
        if match.group() in words:
            other = rng.choice([word for word in words if word != match.group()])
            return line[: match.start()] + other + line[match.end() :]
    return line


def _swapped(rng: Random, line: str) -> str:
    return _SWAPPED.sub(r"\1=\5\3\4=\2", line, count=1)


def _index(rng: Random, line: str) -> str:
    found = list(_NUMBERS.finditer(line)) if "nki.view" in line else []
    if not found:
        return line
    match = rng.choice(found)
    number = max(0, int(match.group()) + rng.choice((-1, 1)))
    return f"{line[: match.start()]}{number}{line[match.end() :]}"


def _missing(rng: Random, line: str) -> str:
    return "" if line.strip().startswith("nisa.") else line


CHANGES: dict[str, Callable[[Random, str], str]] = {
    "constant": _constant,
    "operator": _operator,
    "swapped operands": _swapped,
    "index": _index,
    "missing instruction": _missing,
}


def of_text(text: str) -> TracedKernel:
    """The only kernel of a text of IR."""
    module = parse(text, "changed.mlir")
    (cores,) = launches_of(module).values()
    return TracedKernel(module, kernels=cores)


def changed(
    rng: Random, traced: TracedKernel, tries: int, kinds: Sequence[str] = tuple(CHANGES)
) -> Iterator[tuple[str, TracedKernel]]:
    """Valid kernels with one change of a line; each try changes a random line, if it can."""
    lines = str(traced.text()).splitlines()
    for _ in range(tries):
        name, at = rng.choice(list(kinds)), rng.randrange(len(lines))
        for _ in lines:
            line = CHANGES[name](rng, lines[at])
            if line != lines[at]:
                break
            at = (at + 1) % len(lines)
        else:
            continue
        try:
            made = of_text("\n".join([*lines[:at], line, *lines[at + 1 :]]))
            made.verify()
        except (NkiValidationError, ParseError, ViewError, VerifyException, ValueError):
            continue
        yield f"{name}: {lines[at].strip()} -> {line.strip()}", made


def results(traced: TracedKernel, seed: int) -> list[Any] | None:
    """The results, and the inputs that are written, on random data; None if the run fails."""
    arrays = random_inputs(traced, seed)
    try:
        found = Launch([Plan(kernel) for kernel in kernels_of(traced.module)]).run(arrays)
    except InterpretationError:
        return None
    return [np.asarray(array) for array in (*found, *arrays)]


def same_bits(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """True if all arrays have the same bits, apart from NaN."""
    return all(
        np.array_equal(_comparable(left), _comparable(right))
        for left, right in zip(one, other, strict=True)
    )


def close(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """True if finite floating-point numbers differ by rounding at most; integers are ignored."""
    for left, right in zip(one, other, strict=True):
        if left.dtype.kind in "iub":
            continue
        numbers = left.astype(np.float64), right.astype(np.float64)
        finite = np.isfinite(numbers[0]) & np.isfinite(numbers[1])
        before, after = (each[finite] for each in numbers)
        if before.size and np.abs(before - after).max() > 0.05 * max(1.0, np.abs(before).max()):
            return False
    return True


def _comparable(array: Any) -> Any:
    if array.dtype.kind in "iub":
        return array
    numbers = array.astype(np.float64)
    return np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)
