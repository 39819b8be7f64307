"""`nkijit advise`."""

from __future__ import annotations

from typing import Annotated

import typer

from nkijit.cli.options import Output
from nkijit.cli.reports import Prediction
from nkijit.cli.selection import Selection, only
from nkijit.host.terminal import progress_bar, show
from nkijit.passes.advise.advice import Advice, kinds_as_markdown, list_of_kinds


def _list(requested: bool) -> None:
    if requested:
        show(list_of_kinds())
        raise typer.Exit


def _markdown(requested: bool) -> None:
    if requested:
        show(kinds_as_markdown())
        raise typer.Exit


def advise(
    kernels: Selection,
    *,
    prediction: Prediction,
    as_json: Annotated[bool, typer.Option("--json", help="print everything as JSON")] = False,
    list_all: Annotated[
        bool,
        typer.Option(
            "--list",
            callback=_list,
            is_eager=True,
            help="list the kinds of advice; needs no kernel",
        ),
    ] = False,
    markdown: Annotated[
        bool,
        typer.Option(
            "--markdown", callback=_markdown, is_eager=True, help="print this list as Markdown"
        ),
    ] = False,
    output: Output,
) -> None:
    """Suggest changes that make a kernel faster, each tried with the timing model."""
    traced = kernels.traced()
    if as_json:
        traced = [only(traced)]
    found = list[Advice]()
    for each in traced:
        with progress_bar(f"@{each.name}") as progress:
            found.append(
                each.advice(
                    prediction.constants,
                    prediction.iterations,
                    progress,
                    strict=prediction.strict,
                    disable_dge=prediction.disable_dge,
                    schedule=prediction.schedule,
                )
            )
    output.write(found[0].to_json() if as_json else "\n".join(map(str, found)))
