"""Predict the times of published kernels and print the table.

Kernels are downloaded from GitHub into the folder --sources, one file each, and executed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.fidelity.predicting import Prediction, predicted
from benchmarks.fidelity.results import Results
from benchmarks.fidelity.rows import ROWS, read_rows
from benchmarks.fidelity.sources import default_folder
from benchmarks.fidelity.table import table_text, write_into


def main() -> None:
    """Print the table; `--write` also puts it between the markers of a page (see `table.py`)."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fidelity", description=__doc__)
    parser.add_argument("--rows", type=Path, default=ROWS, help="TOML file of published times")
    parser.add_argument("--sources", type=Path, default=default_folder(), help="folder of kernels")
    parser.add_argument("--only", default="", help="only rows whose name or source contains this")
    parser.add_argument("--write", type=Path, help="page to write the table to")
    parser.add_argument("--results", type=Path, help="file of results, continued if it exists")
    parser.add_argument("--known", action="store_true", help="predict no row, only show --results")
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("--write and --only exclude each other")
    published = read_rows(options.rows)
    rows = [row for row in published.rows if options.only in row.name or options.only in row.source]
    results = Results(options.results)
    for row in sorted(rows, key=lambda row: row.measured_us):
        if row.name in results.found:
            continue
        if options.known:
            results.found[row.name] = Prediction(unavailable="not predicted")
            continue
        print(f"{row.name} …", file=sys.stderr, flush=True)
        results.add(row.name, predicted(row, options.rows, options.sources))
    found = results.found
    text = table_text(type(published)(published.sources, tuple(rows)), found)
    if options.write:
        write_into(options.write, text)
    print(text, end="")


if __name__ == "__main__":
    main()
