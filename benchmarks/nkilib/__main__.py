"""Run tests of a checkout of aws-neuron/nki-library: `python -m benchmarks.nkilib PATH [OPTIONS]`.

Prints the time of each step per kernel. OPTIONS are pytest's, e.g. `-m fast -k cumsum`, and
`--per-file N` for a sample.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.nkilib.plugin import ROWS, Row
from nkijit.passes.verify.verdicts import CACHE_VARIABLE

REPOSITORY = Path(__file__).parents[2]


def rows_of(path: Path) -> list[Row]:
    """Return the rows that the plugin has written, the slowest first calls first."""
    rows = [Row(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    return sorted(rows, key=lambda row: row.trace + row.verify + row.first_run, reverse=True)


def table_of(rows: list[Row]) -> Table:
    """Return the rows as a table, in seconds of processor time."""
    columns = ("operations", "trace", "verify", "first run", "second call", "over bare creation")
    table = Table("test", *columns, title="nki-library, seconds of processor time")
    for row in rows:
        times = (row.trace, row.verify, row.first_run, row.second_call)
        shown = [f"{time:.2f}" for time in times]
        name = row.test.rpartition("::")[2]
        table.add_row(name, f"{row.operations:,}", *shown, f"{row.overhead:.1f}x")
    return table


def main() -> int:
    """Run the tests and print the table. Returns pytest's exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nkilib", description=__doc__)
    parser.add_argument("checkout", type=Path, help="a checkout of aws-neuron/nki-library")
    given, options = parser.parse_known_args()
    checkout = given.checkout.resolve()
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "rows.jsonl")
        rows.touch()
        path = os.pathsep.join([str(checkout / "src"), str(REPOSITORY)])
        # Threads of BLAS that wait for work count as processor time.
        variables = {"PYTHONPATH": path, ROWS: str(rows), "OPENBLAS_NUM_THREADS": "1"}
        variables[CACHE_VARIABLE] = ""  # every kernel is verified
        plugin = ["-p", "benchmarks.nkilib.plugin", "--test-mode", "simulation"]
        command = [sys.executable, "-m", "pytest", *plugin, "-q", *(options or ["test"])]
        status = subprocess.run(command, cwd=checkout, env=os.environ | variables, check=False)
        Console().print(table_of(rows_of(rows)))
    return status.returncode


if __name__ == "__main__":
    sys.exit(main())
