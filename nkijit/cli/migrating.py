"""`nkijit migrate`."""

from __future__ import annotations

import difflib
import json as json_module
import sys
from pathlib import Path
from typing import Annotated

import typer

from nkijit.cli.app import FOUND
from nkijit.discovery.config import split_kernel
from nkijit.discovery.errors import UsageError
from nkijit.discovery.given_arguments import argument_values
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
            help="an argument that kernels are traced at: x=128x512:float32, scale=2.0",
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("-t", "--target", metavar="NAME", help="trn1, trn2 or trn3")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="RELEASE", help="the release of NKI to write for, e.g. 0.5"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="write here instead of the terminal"),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="write nothing: only the report and the exit code")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="print what changes instead of the new file")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="print the report as JSON")] = False,
) -> None:
    """Rewrite kernels of the classic API in today's, and prove that they compute the same.

    The report goes to standard error, with --json or --check to standard output. Exit code 0 says
    that all kernels are migrated and proven to agree bit by bit, 1 that something is left.

    A module of today's API is taken to the release of --to, by default the newest: what it
    renamed is renamed, and what it no longer has is left out or listed.
    """
    if to is not None:
        try:
            release(to)
        except ValueError as error:
            raise UsageError(str(error)) from None
    path, kernel = split_kernel(file)
    if not Path(path).is_file():
        raise UsageError(f"no such file: {path}")
    if not path.endswith(".py"):
        raise UsageError(f"{path} is not a Python file")
    if output is not None and output.exists() and output.samefile(path):
        raise UsageError(f"{output} is the file itself: write to another one")
    if output is not None and not output.absolute().parent.is_dir():
        raise UsageError(f"no such folder: {output.parent}")
    if json and output is None and not check and not diff:
        raise UsageError(
            "--json prints the report: say with -o where the new file goes, or --check"
        )
    with waiting(f"migrating {path}"):
        found = migrate_file(path, argument_values(arg or []), kernel=kernel, target=target, nki=to)
    report = found.report
    if found.is_empty:
        raise UsageError(f"{path} has no kernels of the classic API, and does not import today's")
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
