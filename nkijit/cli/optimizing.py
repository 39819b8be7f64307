"""`nkijit optimize`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nkijit.cli.options import WRITTEN, Output
from nkijit.cli.reports import Model
from nkijit.cli.selection import Selection
from nkijit.dialects.spelling import counted
from nkijit.discovery.errors import UsageError
from nkijit.host.output_files import write_text
from nkijit.host.terminal import progress_bar
from nkijit.passes.optimize.result import ResumeError
from nkijit.passes.prove.algebra import Level


def optimize(
    kernels: Selection,
    *,
    allow: Annotated[
        Level,
        typer.Option(
            "--allow",
            help="allowed differences of results: none, another order of sums, other rounding",
        ),
    ] = Level.bits,
    budget: Annotated[
        float, typer.Option("--budget", metavar="SECONDS", min=0.0, help="time for the search")
    ] = 60.0,
    experiments: Annotated[
        int | None,
        typer.Option(
            "--experiments", metavar="N", min=0, help="largest number of changes that are tried"
        ),
    ] = None,
    two_cores: Annotated[
        bool,
        typer.Option("--two-cores", help="also divide a kernel for one core between two cores"),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="print the result as JSON, for --resume")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="also print the differences between the IR")
    ] = False,
    explain: Annotated[
        int | None,
        typer.Option(
            "--explain", metavar="STEP", help="print a step with its effect on IR and profile"
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume", metavar="FILE", help="JSON of an earlier search, to repeat and continue"
        ),
    ] = None,
    model: Model,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE.py", help="write the faster kernel as source"),
        WRITTEN,
    ] = None,
) -> None:
    """Search for a faster kernel: changes of advise, composed, predicted and proven.

    Every version is verified and compared with the original kernel. Without a gain, nothing
    changes. With --resume and --budget 0, the steps of an earlier search are repeated.
    """
    if as_json and (diff or explain is not None):
        raise UsageError("--json excludes --diff and --explain")
    earlier = None if resume is None else resume.read_text(encoding="utf-8")
    traced = kernels.one()
    with progress_bar(f"@{traced.name}") as progress:
        try:
            found = traced.optimize(
                allow.value,
                budget,
                progress,
                constants=model.constants,
                iterations=model.iterations,
                disable_dge=model.disable_dge,
                experiments=experiments,
                resume=earlier,
                two_cores=two_cores,
            )
        except ResumeError as error:
            raise UsageError(f"--resume {resume}: {error}") from None
        if explain is not None and not 1 <= explain <= len(found.result.steps):
            count = len(found.result.steps)
            raise UsageError(f"--explain {explain}: the search found {counted(count, 'step')}")
    if output is not None:
        write_text(output, found.source())
    shown = Output()
    if explain is not None:
        shown.write(found.explain(explain))
    else:
        shown.write(found.to_json() if as_json else str(found))
    if diff:
        shown.write(f"\n{found.diff()}")
