"""`nkijit sweep`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from nkijit.cli.options import Output, ScheduleOf
from nkijit.cli.selection import Selection
from nkijit.discovery.errors import UsageError
from nkijit.discovery.given_arguments import each_once
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
            help="choose variants by Optuna's sampler of this name: tpe, random, cmaes, nsgaii, …",
        ),
    ] = None
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            metavar="N",
            min=1,
            help="how many variants a sampler (tpe by default) chooses, with those of earlier runs",
        ),
    ] = None
    storage: Annotated[
        str | None,
        typer.Option(
            "--storage",
            metavar="URL",
            help="keep Optuna's study there, and go on with it: sqlite:///x.db, or a journal file",
        ),
    ] = None
    study_name: Annotated[
        str | None,
        typer.Option(
            "--study-name", metavar="NAME", help="the study there; by default the kernel's name"
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
            help="variants at a time; by default as many as there are processors",
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="have the workers of a Dask scheduler look at them: tcp://10.0.0.1:8786",
        ),
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            min=0.001,
            help="end a variant that takes longer; it has failed, and the sweep goes on",
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
            "tile_m=64..1024:*2; see docs/sweep.md",
        ),
    ],
    objective: Annotated[
        list[str] | None,
        typer.Option(
            "--objective",
            metavar="NAME",
            help=f"one of {', '.join(OBJECTIVES)}; time by default; may be given several times",
        ),
    ] = None,
    sampling: Sampling,
    run: Annotated[
        bool,
        typer.Option(
            "--run", help="run the variants, too, and compare results with the first valid one"
        ),
    ] = False,
    seed: Annotated[
        int,
        typer.Option(
            "--seed", metavar="N", min=0, help="of the sampler, and of the random data of --run"
        ),
    ] = 0,
    schedule: ScheduleOf = Schedule.compiler,
    computing: Computing,
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
    _check(sampling)
    chosen = kernels.chosen()
    checked(chosen.kernel, {**chosen.known, **axes})
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
        raise UsageError("--sampler: how many variants is it to choose? Add e.g. --trials 100")
    for option, given in (("--storage", sampling.storage), ("--study-name", sampling.study_name)):
        if given is not None:
            raise UsageError(f"{option} is about a sampler's study: add --trials N")
