"""`nkijit export`."""

from __future__ import annotations

from typing import Annotated

import typer

from nkijit.cli.options import Output, ScheduleOf
from nkijit.cli.selection import Selection
from nkijit.export.source import source_of
from nkijit.host.terminal import waiting
from nkijit.passes.compile.pipeline import Schedule


def export(
    kernels: Selection,
    *,
    comments: Annotated[
        bool, typer.Option("--comments/--no-comments", help="quote the original source lines")
    ] = True,
    loops: Annotated[
        bool,
        typer.Option("--loops/--no-loops", help="write repeated instructions as loops"),
    ] = True,
    schedule: ScheduleOf = Schedule.author,
    output: Output,
) -> None:
    """Write a kernel as Python source that traces to the same IR.

    The file uses the current API, so it can be run on a device. The kernel may be IR, such as the
    output of `nkijit-opt`. With --schedule compiler, the compiler's passes are applied first.
    """
    traced_kernels = kernels.traced()
    with waiting("writing the source"):
        launches = [traced.cores(schedule) for traced in traced_kernels]
        text = source_of(launches, comments=comments, loops=loops)
    output.write(text)
