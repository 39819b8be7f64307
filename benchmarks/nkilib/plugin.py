"""The pytest plugin that runs kernels of nki-library's tests and records the time of each step.

Each kernel call appends a row to the JSON lines file of the environment variable ROWS.
"""

from __future__ import annotations

import dataclasses
import gc
import importlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import nkijit
from benchmarks.cold import bare_creation, operations
from benchmarks.measuring import seconds
from benchmarks.nkilib.vendor import install
from benchmarks.production.steps import Steps

ROWS = "NKIJIT_NKILIB_ROWS"
"""The environment variable with the path of the file of rows."""


@dataclass(frozen=True)
class Row(Steps):
    """Times of the calls of one kernel, in seconds of processor time."""

    test: str
    kernel: str


class Simulated:
    """A kernel whose calls are timed step by step."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel if isinstance(kernel, nkijit.Kernel) else nkijit.jit(kernel)

    def __getitem__(self, cores: int) -> Callable[..., Any]:
        """Return the function that traces, verifies and runs the kernel on a number of cores."""
        target = os.environ.get("NKI_NC_VERSION")
        kernel = self.kernel.for_target(target) if target else self.kernel  # pyright: ignore

        def call(**inputs: Any) -> Any:
            traced: nkijit.TracedKernel
            traced, trace = _timed(lambda: kernel[cores].trace(**inputs))
            _, verify = _timed(lambda: traced.admit(strict=False))
            arrays = [inputs[name] for name, _, _ in traced.argument_types]
            copies = [array.copy() if hasattr(array, "copy") else array for array in arrays]
            result, first_run = _timed(lambda: traced.run(*arrays, strict=False))
            _, second_call = _timed(lambda: traced.run(*copies, strict=False))
            bare = min(seconds(bare_creation(traced.module)) for _ in range(3))
            count = len(operations(traced.module))
            times = (bare, trace, verify, first_run, second_call)
            _append(Row(count, *times, _test(), traced.name))
            return result

        return call


def _timed(step: Callable[[], Any]) -> tuple[Any, float]:
    gc.collect()
    start = time.process_time()
    result = step()
    return result, time.process_time() - start


def _test() -> str:
    return os.environ.get("PYTEST_CURRENT_TEST", "").removesuffix(" (call)")


def _append(row: Row) -> None:
    with Path(os.environ[ROWS]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(dataclasses.asdict(row)) + "\n")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for a sample of the tests."""
    text = "run only N tests of each file, spread evenly over the file"
    parser.addoption("--per-file", type=int, metavar="N", help=text)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Reduce the tests to a sample."""
    most: int | None = config.getoption("--per-file")
    if most is None:
        return
    sample: list[pytest.Item] = []
    for _, group in groupby(items, key=lambda item: item.path):
        tests = list(group)
        count = min(most, len(tests))
        sample += [tests[number * len(tests) // count] for number in range(count)]
    items[:] = sample


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Provide the simulator before the library's own plugin imports it."""
    install(Simulated)


def pytest_sessionstart() -> None:
    """Give the orchestrator the attribute that its simulation mode reads and does not set."""
    module: Any = importlib.import_module("test.utils.test_orchestrator")
    module.Orchestrator._compiled_kernel = None
