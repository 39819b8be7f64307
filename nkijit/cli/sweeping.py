"""The command that looks for the best variant of a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nkijit.chosen import checked
from nkijit.cli.arguments import each_once
from nkijit.cli.options import Output, ScheduleOf
from nkijit.cli.selection import Selection
from nkijit.cli.values import Seed
from nkijit.failures import UsageError
from nkijit.output_files import write_text
from nkijit.passes.compile.schedules import Schedule
from nkijit.sweeps.results import OBJECTIVES
from nkijit.sweeps.space import axis_of
from nkijit.sweeps.sweeping import sweep as sweep_of


def sweep(
    kernels: Selection,
    *,
    space: Annotated[
        list[str],
        typer.Option(
            "--space",
            metavar="NAME=VALUES",
            help="values of an argument: tile_n=128,256,512, or a range: tile_k=64:513:64",
        ),
    ],
    objective: Annotated[
        str, typer.Option("--objective", metavar="NAME", help=f"one of {', '.join(OBJECTIVES)}")
    ] = "time",
    run: Annotated[
        bool,
        typer.Option(
            "--run", help="run the variants, too, and compare results with the first valid one"
        ),
    ] = False,
    seed: Seed = 0,
    schedule: ScheduleOf = Schedule.compiler,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", min=1, help="processes; by default all processors"),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume", metavar="FILE", help="keep results here, and do not compute them again"
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="write a page with the table and a plot"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print everything as JSON")] = False,
    output: Output,
) -> None:
    """Predict variants of a kernel, with other values of its arguments, and find the best."""
    if kernels.is_ir:
        raise UsageError("a .mlir file is traced already: its arguments cannot be swept")
    axes = each_once("--space", space, axis_of)
    chosen = kernels.chosen()
    checked(chosen.kernel, {**chosen.known, **axes})
    found = sweep_of(
        chosen.kernel,
        axes,
        objective,
        arguments=chosen.known,
        run=run,
        seed=seed,
        schedule=schedule,
        workers=workers,
        store=resume,
    )
    if html is not None:
        write_text(html, found.to_html())
    output.write(found.to_json() if as_json else f"{found}\n")
    if found.best is None:
        raise typer.Exit(1)
