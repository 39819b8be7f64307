"""Times of the steps of a production kernel's first call, and of its second call."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import astuple, dataclass
from typing import Any

from benchmarks.cold import bare_creation, operations
from benchmarks.measuring import seconds
from benchmarks.production import layers

SIZES = (500, 5_000, 50_000)
"""Approximate numbers of operations."""
OVERHEAD_LIMIT = 8.0
"""The limit of `Steps.overhead` for kernels of at least 5,000 operations."""
VERIFY_LIMIT = 1.5
"""The limit of verification, relative to tracing."""
NEW_PROCESS_LIMIT = 0.12
"""The limit of tracing and verifying the smallest kernels in a new process, in seconds."""


@dataclass(frozen=True)
class Steps:
    """Seconds of processor time of each step."""

    operations: int
    bare: float
    """Creation of the same operations with xDSL's low-level constructor.

    Timed without Python's garbage collection, which nkijit pauses too.
    """
    trace: float
    verify: float
    first_run: float
    second_call: float

    @property
    def overhead(self) -> float:
        """First call without its arithmetic, relative to the creation of its operations."""
        return (self.trace + self.verify + self.first_run - self.second_call) / self.bare


def steps(name: str, size: int) -> Steps:
    """Measure a kernel of `layers` in this process."""
    measured = getattr(layers, name)(size)
    inputs = measured.inputs()
    traced: list[Any] = []
    trace = seconds(lambda: traced.append(measured.fresh()))
    kernel = traced[0]
    verify = seconds(lambda: kernel.admit(strict=True))
    first_run, second_call = (seconds(lambda: kernel.run(*inputs)) for _ in range(2))
    bare = min(seconds(bare_creation(kernel.module)) for _ in range(3))
    count = len(operations(kernel.module))
    return Steps(count, bare, trace, verify, first_run, second_call)


def in_new_process(name: str, size: int) -> Steps:
    """Measure a kernel as the first one of a process, without the import of nkijit."""
    code = f"from benchmarks.production.steps import *; print_steps({name!r}, {size})"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return Steps(*json.loads(found.stdout))


def print_steps(name: str, size: int) -> None:
    """Print the steps of a kernel as JSON, for `in_new_process`."""
    print(json.dumps(astuple(steps(name, size))))
