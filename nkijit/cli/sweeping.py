"""`nkijit sweep`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from nkijit.cli.options import WRITTEN, Output, ScheduleOf
from nkijit.cli.selection import Selection
from nkijit.discovery.errors import UsageError
from nkijit.discovery.option_values import each_once
from nkijit.discovery.selection import checked
from nkijit.host.output_files import write_text
from nkijit.passes.compile.schedules import Schedule
from nkijit.sweeps.results import OBJECTIVES
from nkijit.sweeps.space import axis_of
from nkijit.sweeps.sweeping import sweep as sweep_of


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Options for sampling variants instead of predicting the whole grid."""

    sampler: Annotated[
        str | None,
        typer.Option(
            "--sampler",
            metavar="NAME",
            help="choose variants with this sampler of Optuna: tpe, random, cmaes, nsgaii, …",
        ),
    ] = None
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            metavar="N",
            min=1,
            help="number of variants that the sampler (tpe by default) chooses, with earlier runs",
        ),
    ] = None
    storage: Annotated[
        str | None,
        typer.Option(
            "--storage",
            metavar="URL",
            help="store or resume Optuna's study: sqlite:///x.db, or a journal file",
        ),
    ] = None
    study_name: Annotated[
        str | None,
        typer.Option(
            "--study-name",
            metavar="NAME",
            help="name of the study in --storage; by default the kernel's name",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Computing:
    """Options for the processes that predict the variants."""

    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            help="variants at a time; by default the number of processors",
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="predict variants on the workers of a Dask scheduler: tcp://10.0.0.1:8786, or the "
            "file of its --scheduler-file: scheduler.json",
        ),
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            min=0.001,
            help="time limit of a variant; one that exceeds it fails, and the sweep continues",
        ),
    ] = None


def sweep(
    kernels: Selection,
    *,
    space: Annotated[
        list[str],
        typer.Option(
            "--space",
            metavar="NAME=VALUES",
            help="values of an argument: tile_n=128,256,512, or a range: tile_k=64..512:64, "
            "tile_m=64..1024:*2",
        ),
    ],
    objective: Annotated[
        list[str] | None,
        typer.Option(
            "--objective",
            metavar="NAME",
            help=f"one of {', '.join(OBJECTIVES)}; time by default; may be repeated",
        ),
    ] = None,
    sampling: Sampling,
    run: Annotated[
        bool,
        typer.Option(
            "--run", help="also run the variants, and compare results with the first valid one"
        ),
    ] = False,
    seed: Annotated[
        int,
        typer.Option(
            "--seed", metavar="N", min=0, help="seed of the sampler and of the random data of --run"
        ),
    ] = 0,
    schedule: ScheduleOf = Schedule.compiler,
    computing: Computing,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume", metavar="FILE", help="store results in this file, and reuse those in it"
        ),
        WRITTEN,
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="write a page with the table and a plot"),
        WRITTEN,
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print everything as JSON")] = False,
    output: Output,
) -> None:
    """Predict variants of a kernel with different arguments, and find the best."""
    if kernels.is_ir:
        raise UsageError("a .mlir file is traced already: its arguments cannot be swept")
    axes = each_once("--space", space, axis_of)
    _check(sampling)
    chosen = kernels.chosen()
    checked(chosen.kernel, {**chosen.known, **axes}, label=chosen.label)
    found = sweep_of(
        chosen.kernel,
        axes,
        objective or "time",
        arguments=chosen.known,
        run=run,
        seed=seed,
        schedule=schedule,
        executor=computing.scheduler,
        workers=computing.workers,
        timeout=computing.timeout,
        store=resume,
        sampler=sampling.sampler,
        trials=sampling.trials,
        storage=sampling.storage,
        study_name=sampling.study_name,
    )
    if html is not None:
        write_text(html, found.to_html())
    output.write(found.to_json() if as_json else f"{found}\n")
    if found.best is None:
        raise typer.Exit(1)


def _check(sampling: Sampling) -> None:
    if sampling.trials is not None:
        from nkijit.sweeps.studies import only_warn

        only_warn()
        return
    if sampling.sampler is not None:
        raise UsageError("--sampler needs the number of variants: add e.g. --trials 100")
    for option, value in (("--storage", sampling.storage), ("--study-name", sampling.study_name)):
        if value is not None:
            raise UsageError(f"{option} applies to a sampler's study: add --trials N")
