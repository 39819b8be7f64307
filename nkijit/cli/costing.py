"""`nkijit cost`, for searches that are not written in Python."""

from __future__ import annotations

from typing import Annotated

import typer

from nkijit.cli.options import Output
from nkijit.cli.reports import Prediction
from nkijit.cli.selection import Selection, only
from nkijit.host.terminal import waiting
from nkijit.sweeps.costs import Cost, cost_of, cost_of_trace


def cost(
    kernels: Selection,
    *,
    prediction: Prediction,
    as_json: Annotated[bool, typer.Option("--json", help="print everything as JSON")] = False,
    output: Output,
) -> None:
    """Print a summary of a kernel's cost: predicted time, memory, critical lines, findings.

    With --json, a document is also printed when the kernel has errors or cannot be traced.
    """
    found = _cost(kernels, prediction)
    output.write(found.to_json() if as_json else f"{found}\n")
    if found.time is None:
        # As for all commands: 1 for errors of the kernel, 2 for failures.
        raise typer.Exit(1 if found.errors else 2)


def _cost(kernels: Selection, prediction: Prediction) -> Cost:
    if kernels.is_ir:
        traced = only(kernels.traced())
        return cost_of(traced, lambda: prediction.profile(traced))
    chosen = kernels.chosen()
    chosen.checked()
    with waiting(f"tracing {chosen.name}"):
        return cost_of_trace(chosen.kernel, lambda: only(kernels.traced()), prediction.profile)
