"""`nkijit migrate`."""

from __future__ import annotations

import difflib
import json as json_module
import sys
from pathlib import Path
from typing import Annotated

import typer

from nkijit.cli.app import FOUND
from nkijit.cli.options import WRITTEN
from nkijit.discovery.config import split_kernel
from nkijit.discovery.errors import UsageError
from nkijit.discovery.option_values import argument_values
from nkijit.host.missing_files import missing_file
from nkijit.host.output_files import writing
from nkijit.host.terminal import show, waiting
from nkijit.migrate.migration import Migration, migrate_file
from nkijit.releases.table import release


def migrate(
    file: Annotated[
        str, typer.Argument(metavar="FILE[:KERNEL]", help="FILE.py, or FILE.py:KERNEL")
    ],
    *,
    arg: Annotated[
        list[str] | None,
        typer.Option(
            "-a",
            "--arg",
            metavar="NAME=VALUE",
            help="an argument for tracing the kernels: x=128x512:float32, scale=2.0",
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("-t", "--target", metavar="NAME", help="trn1, trn2 or trn3")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="RELEASE", help="target release of NKI, e.g. 0.5; default the newest"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="write to this file instead of the terminal"
        ),
        WRITTEN,
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="only print the report and set the exit code")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="print a diff instead of the new file")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="print the report as JSON")] = False,
) -> None:
    """Rewrite kernels of the classic API in the current API, and compare their results.

    The report goes to standard error, with --json or --check to standard output. The exit code is
    0 if all kernels are migrated and their results are identical bit by bit, 1 otherwise.

    A module of the current API is migrated to the release of --to: renamed names and arguments are
    renamed, removed ones are dropped or listed.
    """
    if to is not None:
        try:
            release(to)
        except ValueError as error:
            raise UsageError(str(error)) from None
    path, kernel = split_kernel(file)
    if not Path(path).is_file():
        raise UsageError(missing_file(path))
    if not path.endswith(".py"):
        raise UsageError(f"{path} is not a Python file")
    if output is not None and output.exists() and output.samefile(path):
        raise UsageError(f"{output} is the input file: write to another one")
    if json and output is None and not check and not diff:
        raise UsageError("--json prints the report: add -o FILE for the new file, or --check")
    with waiting(f"migrating {path}"):
        found = migrate_file(path, argument_values(arg or []), kernel=kernel, target=target, nki=to)
    report = found.report
    if found.is_empty:
        raise UsageError(f"{path} has no classic kernels, and does not import the current API")
    if not check:
        _write(found, output, diff=diff, quiet=json)
    sys.stdout.flush()
    if json:
        show(json_module.dumps(report.document(), indent=2, ensure_ascii=False) + "\n")
    else:
        (sys.stdout if check else sys.stderr).write(f"{report}\n")
    if not report.is_done:
        raise typer.Exit(FOUND)


def _write(found: Migration, output: Path | None, *, diff: bool, quiet: bool) -> None:
    if diff and not quiet:
        before, after = (text.splitlines(keepends=True) for text in (found.source.text, found.text))
        path = found.source.path
        show("".join(difflib.unified_diff(before, after, path, str(output or path))))
    if output is not None:
        with writing(output) as file:
            file.write(found.source.encoded(found.text))
    elif not diff:
        show(found.text)


__all__ = ["migrate"]
