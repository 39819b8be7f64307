"""Tracebacks of public functions and methods do not show the frames of nkijit."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pytest

import nkijit
import nkijit.language as nl
from nkijit import testing
from nkijit.kernels.kernel import Kernel
from nkijit.traced.kernel import TracedKernel

ROOT = Path(nkijit.__file__).parents[1]


@nkijit.jit
def ex(x: Any):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


def own_frames(error: BaseException) -> list[str]:
    """Return the files of nkijit in the traceback of an exception."""
    files: list[Path] = []
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        files.append(Path(trace.tb_frame.f_code.co_filename))
        trace = trace.tb_next
    inside = [f.relative_to(ROOT) for f in files if f.is_relative_to(ROOT)]
    return [str(f) for f in inside if f.parts[0] in ("nkijit", "dialects", "passes")]


WRONG = "nope.mlir"
"""A text that no public function takes as its first argument: no kernel, no file, no data type."""
CLASSES = {"Kernel", "NkiValidationError", "Sweep", "TracedKernel"}
"""Public classes whose objects other functions create."""
FUNCTIONS = {
    f"{owner.__name__}.{name}": getattr(owner, name)
    for owner in (nkijit, testing)
    for name in owner.__all__
    if callable(getattr(owner, name)) and name not in CLASSES
}
METHODS = [(of, n) for of in (Kernel, TracedKernel) for n in dir(of) if not n.startswith("_")]
INTERNAL = {"deferred", "run_ranks"}
"""Methods in which Python raises the errors about such arguments, as it does for defects."""


def wrong_arguments(function: Callable[..., Any]) -> list[Any]:
    """Return a wrong value for each argument without a default, at least one."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    needed = sum(p.default is p.empty and p.kind in kinds for p in parameters)
    takes_more = any(p.kind in (*kinds, p.VAR_POSITIONAL) for p in parameters)
    return [WRONG] * max(needed, takes_more)


def own_frames_of_call(function: Callable[..., Any]) -> list[str]:
    """Return the files of nkijit in the traceback of a call with wrong arguments, if it fails."""
    try:
        function(*wrong_arguments(function))
    except Exception as error:
        return own_frames(error)
    return []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_with_a_wrong_argument(name: str):
    assert own_frames_of_call(FUNCTIONS[name]) == []


@pytest.mark.parametrize(("of", "name"), METHODS)
def test_methods_with_a_wrong_argument(of: type[Any], name: str):
    owner = ex if of is Kernel else ex.trace(nkijit.TensorSpec((128, 64), "float32"))
    method = getattr(owner, name)
    if callable(method) and name not in INTERNAL:
        assert own_frames_of_call(method) == []


@pytest.mark.parametrize(
    "call",
    [
        lambda: nkijit.TensorSpec((128, 64), "float64"),
        lambda: nkijit.TensorSpec((128, -64), "float32"),
        lambda: nkijit.TensorSpec.parse("128"),
        lambda: nkijit.load("nope.mlir"),
        lambda: nkijit.load_record("nope.npz"),
        lambda: nkijit.cost(3),  # pyright: ignore[reportArgumentType]
        lambda: nkijit.sweep(ex, 3),  # pyright: ignore[reportArgumentType]
        lambda: nkijit.value_of(3),
        lambda: testing.assert_findings(3, "x"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_mistakes(call: Callable[[], Any]):
    with pytest.raises(Exception) as found:  # noqa: PT011
        call()
    assert own_frames(found.value) == []


@pytest.mark.parametrize("call", [lambda: nkijit.jit(1, 2, 3), lambda: nkijit.simulate()])
def test_arguments_that_do_not_match_inside_a_kernel(call: Callable[[], Any]):
    @nkijit.jit
    def kernel(x):
        call()

    with pytest.raises(nkijit.NkiValidationError) as caught:
        kernel.trace(np.zeros((128, 8), np.float32))
    assert [found.rule.id for found in caught.value.diagnostics] == ["call-arguments"]
