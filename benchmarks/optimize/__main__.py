"""Optimise naive kernels and print a table: `python -m benchmarks.optimize`.

The source of each result is written, traced again, and run against the naive kernel on random data.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.optimize.rows import Row, kernel_of, rows
from nkijit.traced.kernel import TracedKernel
from nkijit.traced.optimized import OptimizedKernel

_TARGET = "trn2"
_TOLERANCE = 1e-4
"""The largest difference of results below the level `bits`, relative to the largest result."""


def main() -> int:
    """Print the table. Returns 1 if a result is slower, or differs by more than is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds per kernel")
    parser.add_argument("--only", default="", help="names of rows, separated by commas")
    parser.add_argument("--allow", help="level for all rows; default: the level of each row")
    parser.add_argument("--folder", type=Path, help="files of the SDK and of nki-samples")
    options = parser.parse_args()
    only = {name.strip() for name in options.only.split(",") if name.strip()}
    table = Table(
        *("kernel", "naive", "optimised", "by hand", "bound", "level", "steps", "seconds", "run"),
        title=f"predicted times for {_TARGET}, in µs",
    )
    console = Console(width=120)
    failed = False
    for row in rows():
        if only and row.name not in only:
            continue
        kernel = kernel_of(row.file, row.kernel, options.folder)
        if kernel is None:
            continue
        traced = kernel.for_target(_TARGET).trace(*row.args)
        found = traced.optimize(options.allow or row.allow, options.budget)
        result = found.result
        run = _run(row, kernel, traced, found)
        failed |= result.after.time > result.before.time or run.startswith("differs")
        table.add_row(
            row.name,
            _us(result.before.time),
            _us(result.after.time),
            _by_hand(row, options.folder),
            f"{_us(result.after.time * result.after.busy)} ({result.after.busiest})",
            result.level.value,
            str(len(result.steps)),
            f"{result.seconds:.0f}",
            run,
        )
        print(f"{row.name}: {found!r}", file=sys.stderr, flush=True)
    console.print(table)
    return int(failed)


def _us(time: float) -> str:
    return f"{time / 1000:.2f}"


def _by_hand(row: Row, folder: Path | None) -> str:
    """Return the predicted time of the best version by hand; "" if there is none."""
    kernel = None if row.hand is None else kernel_of(*row.hand, folder)
    if kernel is None:
        return ""
    args = row.args if row.hand_args is None else row.hand_args
    return _us(kernel.for_target(_TARGET).trace(*args, **row.hand_options).profile().time)


def _run(row: Row, kernel: Any, traced: TracedKernel, found: OptimizedKernel[TracedKernel]) -> str:
    """Run the exported source of a result. Returns its difference from the naive kernel."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "optimized.py"
        path.write_text(found.source(), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("optimized", path)
        assert spec is not None and spec.loader is not None  # noqa: PT018
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        again = getattr(module, traced.name).for_target(_TARGET).trace(*row.args)
    before, after = (_results(each, row) for each in (traced, again))
    worst = 0.0
    for one, other in zip(before, after, strict=True):
        exact = one.astype(np.float64)
        error = np.max(np.abs(exact - other.astype(np.float64)))
        worst = max(worst, float(error / max(np.max(np.abs(exact)), 1e-30)))
    allowed = 0.0 if found.result.level.value == "bits" else _TOLERANCE
    if worst > allowed:
        return f"differs by {worst:.1e}"
    return "equal" if worst == 0.0 else f"within {worst:.0e}"


def _results(traced: TracedKernel, row: Row) -> list[np.ndarray[Any, Any]]:
    results = traced.run(*(np.array(each) for each in row.args))
    return list(results) if isinstance(results, tuple) else [results]


if __name__ == "__main__":
    sys.exit(main())
