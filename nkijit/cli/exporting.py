"""`nkijit export`."""

from __future__ import annotations

from typing import Annotated

import typer

from nkijit.cli.options import Output, ScheduleOf
from nkijit.cli.selection import Selection
from nkijit.export.source import source_of
from nkijit.passes.compile.pipeline import Schedule


def export(
    kernels: Selection,
    *,
    comments: Annotated[
        bool, typer.Option("--comments/--no-comments", help="quote the author's lines")
    ] = True,
    loops: Annotated[
        bool,
        typer.Option("--loops/--no-loops", help="write what repeats itself as loops"),
    ] = True,
    schedule: ScheduleOf = Schedule.author,
    output: Output,
) -> None:
    """Write a kernel, traced or as IR, as a plain file of today's NKI that traces to it again.

    What `nkijit-opt` has made of a kernel can be taken to a device this way, and with --schedule
    compiler what the compiler's passes make of it.
    """
    launches = [traced.cores(schedule) for traced in kernels.traced()]
    output.write(source_of(launches, comments=comments, loops=loops))
