"""Growth of time and memory with the size of a kernel. Each size runs in a separate process.

python -m benchmarks.growth blocks 10000
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence

import nkijit as nki
from benchmarks import kernels
from benchmarks.measuring import seconds

STEPS = ("trace", "verify", "first run", "print", "list", "profile")
KERNELS = ("reused", "blocks")
"""The kernels that are measured at several sizes."""
SIZES = (1_000, 10_000, 100_000)
MILLION = 1_000_000
LIMIT = 13.0
"""Limit for a step's time, relative to its time with a tenth of the instructions."""


def growth_of(name: str, instructions: int) -> list[float]:
    """Measure a kernel in this process.

    Returns the seconds of each of `STEPS` (with a million instructions, only the first three), then
    peak memory in MiB after verification, after the run and at the end. Memory includes the tensors
    of the run.
    """
    measured: kernels.Measured = getattr(kernels, name)(instructions)
    traced: list[nki.TracedKernel] = []
    spent = [seconds(lambda: traced.append(measured.fresh()))]
    spent.append(seconds(traced[0].verify))
    verified = _peak()
    inputs = [measured.inputs()]
    spent.append(seconds(lambda: traced[0].run(*inputs.pop())))
    ran = _peak()
    if instructions < MILLION:
        spent += map(
            seconds,
            (traced[0].text, traced[0].listing, lambda: str(traced[0].profile(schedule="author"))),
        )
    return [*spent, verified, ran, _peak()]


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def growth(name: str, sizes: Sequence[int] = SIZES) -> list[list[float]]:
    """Run `growth_of` for several sizes, each in a separate process."""
    rows: list[list[float]] = []
    for count in sizes:
        command = [sys.executable, "-m", "benchmarks.growth", name, str(count)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        rows.append([float(word) for word in printed.split()])
    return rows


def worst_of(rows: list[list[float]]) -> float:
    """Return the largest growth of a step's time from the second size to the third (10 times)."""
    steps = len(STEPS)
    return max(b / a for a, b in zip(rows[1][:steps], rows[2][:steps], strict=True))


if __name__ == "__main__":
    print(*growth_of(sys.argv[1], int(sys.argv[2])))
