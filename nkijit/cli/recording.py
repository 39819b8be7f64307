"""`nkijit record`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nkijit.cli.options import WRITTEN, Strict
from nkijit.cli.selection import Selection
from nkijit.cli.values import Call, Inputs, Seed
from nkijit.host.output_files import write_text
from nkijit.host.terminal import show, waiting
from nkijit.traced.kernel import load_record


def record(
    kernels: Selection,
    *,
    inputs: Inputs = None,
    seed: Seed = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="file for the recording; FILE.html is a page with the values",
        ),
        WRITTEN,
    ] = None,
    strict: Strict = None,
) -> None:
    """Run a kernel and show the values that each line writes: shape, minimum, maximum, NaN.

    Tensors are read from -i, or are random data of the shapes given with -a x=128x512:float32. FILE
    may also be a recording that -o has written (FILE.nkirecord).
    """
    if kernels.file.endswith(SUFFIX):
        recorded = load_record(kernels.file)
    else:
        recorded = Call(kernels, inputs or (), seed).record(strict)
    if output is None:
        with waiting("reading the values"):
            text = str(recorded)
        show(text)
        return
    with waiting(f"writing {output}"):
        if output.suffix == ".html":
            write_text(output, recorded.report())
        else:
            recorded.save(output)


SUFFIX = ".nkirecord"
"""The suffix of files with recordings."""
