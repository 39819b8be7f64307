"""Comparison of migrated and classic kernels, bit by bit: for all inputs, or on random data."""

from __future__ import annotations
import __future__

import ast
import sys
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from nkijit.dialects.spelling import counted
from nkijit.kernels.arguments import TensorSpec
from nkijit.kernels.kernel import Kernel
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.source_text import hold_text
from nkijit.passes.interpret.backends.choice import NUMPY, on_backend
from nkijit.testing.inputs import random_inputs
from nkijit.traced.kernel import TracedKernel

SEEDS = (0, 1, 2)
"""The seeds of the random data for both kernels."""

_TODAY = {
    "nki": "nkijit",
    **{f"nki.{name}": f"nkijit.{name}" for name in ("isa", "language", "typing", "collectives")},
}


@contextmanager
def todays_names() -> Generator[None]:
    """Let `import nki` import nkijit, even if another package provides `nki`."""
    before = {n: m for n, m in sys.modules.items() if n == "nki" or n.startswith("nki.")}
    for name in before:
        del sys.modules[name]
    sys.modules.update({name: import_module(module) for name, module in _TODAY.items()})
    try:
        yield
    finally:
        for name in [n for n in sys.modules if n == "nki" or n.startswith("nki.")]:
            del sys.modules[name]
        sys.modules.update(before)


def run_migrated(path: Path, text: str) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Run `text` as the file `path`, which does not have to exist.

    After a statement that raises an exception, the next statement is run.

    Returns:
        The names of the module, and the first lines of failing statements with their exceptions.

    Raises:
        SyntaxError: the text is not Python.
    """
    tree = ast.parse(text, str(path))
    hold_text(str(path), text)
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    failed: list[tuple[str, str]] = []
    flags = next(
        (
            __future__.annotations.compiler_flag
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            and node.module == "__future__"
            and any(alias.name == "annotations" for alias in node.names)
        ),
        0,
    )
    with todays_names():
        for node in tree.body:
            code = compile(ast.Module([node], []), str(path), "exec", flags, dont_inherit=True)
            try:
                exec(code, vars(module))
            except Exception as error:
                line = (ast.get_source_segment(text, node) or "").split("\n")[0]
                failed.append((line, first_line(error)))
    return vars(module), failed


@dataclass(frozen=True)
class DifferenceError(Exception):
    """The two kernels do not agree."""

    reason: str


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Return arguments as one line, e.g. `x=128x512:float32, scale=2.0`."""
    return ", ".join(f"{name}={_shown(value)}" for name, value in arguments.items())


def _shown(value: Any) -> str:
    spec = _spec(value)
    return repr(value) if spec is None else f"{'x'.join(map(str, spec.shape))}:{spec.dtype}"


def _spec(value: Any) -> TensorSpec | None:
    """Return the shape and dtype of a tensor argument; None for others."""
    if isinstance(value, TensorSpec):
        return value
    if isinstance(value, np.ndarray):
        array = cast("npt.NDArray[Any]", value)
        return TensorSpec(array.shape, str(array.dtype))
    return None


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's message, with the exception's type.

    For a validation error, returns the first finding instead.
    """
    if isinstance(error, NkiValidationError) and error.diagnostics:
        found = error.diagnostics[0]
        return f"{found.subject}: {found.message}" if found.subject else found.message
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def compare(old: TracedKernel, new: TracedKernel, seeds: Sequence[int] = SEEDS) -> None:
    """Run both kernels. Raises DifferenceError if they do not agree."""
    if old.argument_types != new.argument_types:
        raise DifferenceError("the kernels take other tensors")
    if [t for t in old.result_types] != [t for t in new.result_types]:
        raise DifferenceError(f"results are {new.result_types}, they were {old.result_types}")
    for seed in seeds:
        values = _inputs(old, seed)
        again = [np.copy(v) for v in values]
        one, two = _run(old, values), _run(new, again)
        for number, (a, b) in enumerate(
            zip([*_arrays(one), *values], [*_arrays(two), *again], strict=True)
        ):
            if not same(a, b):
                raise DifferenceError(f"result {number} differs for seed {seed}: {_where(a, b)}")


_LARGEST_INTEGER = 2
"""The largest integer input: integers may be indices."""


def _inputs(old: TracedKernel, seed: int) -> list[Any]:
    """Return random arrays for a kernel's arguments. Integers are small: they may be indices."""
    ranges = {
        at: (0, _LARGEST_INTEGER)
        for at, (_, _, dtype) in enumerate(old.argument_types)
        if "int" in str(dtype)
    }
    return random_inputs(old, seed, ranges=ranges)


def _run(kernel: TracedKernel, values: Sequence[Any]) -> Any:
    # Without this, native code could take over between the two runs, as soon as it is compiled.
    with warnings.catch_warnings(), on_backend(NUMPY):
        warnings.simplefilter("ignore")
        return kernel.run(*values, strict=False)


def _arrays(result: Any) -> list[Any]:
    if isinstance(result, dict):
        return [a for v in cast("dict[str, Any]", result).values() for a in _arrays(v)]
    if isinstance(result, (tuple, list)):
        return [a for v in cast("list[Any]", result) for a in _arrays(v)]
    return [] if result is None else [np.asarray(result)]


def same(a: Any, b: Any) -> bool:
    """Whether two arrays have the same bits; all NaNs are equal."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes():
        return True
    bits = a.dtype.itemsize * 8
    if a.dtype.kind == "V" or bits not in (8, 16, 32, 64):
        return False
    differ = a.view(f"u{bits // 8}") != b.view(f"u{bits // 8}")
    with np.errstate(all="ignore"):
        return bool(
            np.all(np.isnan(a[differ].astype(np.float64)) & np.isnan(b[differ].astype(np.float64)))
        )


def _where(a: Any, b: Any) -> str:
    if a.shape != b.shape:
        return f"shape {b.shape}, it was {a.shape}"
    one, two = a.astype(np.float64), b.astype(np.float64)
    differ = np.argwhere(~((one == two) | (np.isnan(one) & np.isnan(two))))
    if not len(differ):
        return "the sign of a zero"
    at = tuple(int(i) for i in differ[0])
    return f"{counted(len(differ), 'element')}, the first at {at}: {two[at]:g}, it was {one[at]:g}"


def prove(old: TracedKernel, new: Kernel, arguments: Mapping[str, Any]) -> bool:
    """Trace the new kernel for the old one's target and compare both. Raises DifferenceError.

    Returns whether the kernels are proven equal for all inputs, bit by bit. Then they run on the
    data of one seed, else on those of all.
    """
    try:
        traced = new.for_target(old.target.platform).trace(**arguments)
    except Exception as error:
        raise DifferenceError(f"the new kernel does not trace: {first_line(error)}") from None
    worse = errors_of(traced)
    known = errors_of(old)
    if worse - known:
        raise DifferenceError(f"the new kernel has findings: {', '.join(sorted(worse - known))}")
    proven = not (worse | known) and old.equivalent(traced, "bits").holds("bits")
    try:
        compare(old, traced, SEEDS[:1] if proven else SEEDS)
    except DifferenceError:
        raise
    except Exception as error:
        raise DifferenceError(f"a run ends with {first_line(error)}") from None
    return proven


def errors_of(traced: TracedKernel) -> set[str]:
    return {d.rule.id for d in traced.diagnostics if d.rule.severity == "error"}


def edges(arguments: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the arguments with one size changed: decreased by one, increased by one, about halved.

    A size is changed in all tensors that have it.
    """
    specs = {name: spec for name, value in arguments.items() if (spec := _spec(value)) is not None}
    sizes = {n for spec in specs.values() for n in spec.shape if n > 2}
    for size in sorted(sizes, reverse=True):
        for other in (size - 1, size + 1, size // 2 + 1):
            changed = dict(arguments)
            for name, spec in specs.items():
                shape = tuple(other if n == size else n for n in spec.shape)
                changed[name] = TensorSpec(shape, spec.dtype)
            yield changed


__all__ = [
    "SEEDS",
    "DifferenceError",
    "arguments_text",
    "edges",
    "errors_of",
    "first_line",
    "prove",
    "run_migrated",
    "todays_names",
]
