"""`nkijit bisect`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from nkijit.cli.options import Strict
from nkijit.cli.selection import Other, Selection
from nkijit.cli.values import Call, Inputs, Seed
from nkijit.discovery.config import split_kernel
from nkijit.discovery.errors import UsageError
from nkijit.discovery.python_files import run_file
from nkijit.host.missing_files import missing_file
from nkijit.host.terminal import waiting


def bisect(
    kernels: Selection,
    *,
    inputs: Inputs = None,
    seed: Seed = 0,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="FILE.py:FUNCTION",
            help="function that takes the kernel's arguments and returns its results, or a dict of "
            "named intermediates",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="FILE[:KERNEL]", help="another version of the kernel"),
    ] = None,
    other: Other,
    float32: Annotated[
        bool, typer.Option("--float32", help="the same kernel with bfloat16 and float8 as float32")
    ] = False,
    strict: Strict = None,
) -> None:
    """Find the first instruction that differs from a reference by more than rounding.

    Tensors are read from -i, or are random data of the shapes given with -a x=128x512:float32. A
    reference function returns the kernel's results, or a dict from names of variables to arrays.
    Exits with 1 when an instruction differs.
    """
    if sum((reference is not None, against is not None, float32)) != 1:
        raise UsageError("give exactly one of --reference, --against and --float32")
    kernels, second = other.of(kernels, against)
    call = Call(kernels, inputs or (), seed)
    if reference is not None and kernels.is_ir:
        raise UsageError("--reference needs a kernel of a Python file, not IR")
    compared: Any = "float32"
    if reference is not None:
        with waiting(f"running {reference}"):
            compared = _function(reference)(**call.arguments())
    elif second is not None:
        compared = replace(call, kernels=second).record(strict)
    recorded = call.record(strict)
    with waiting("comparing the runs"):
        found = recorded.bisect(compared)
    print(found)
    if found:
        raise typer.Exit(1)


def _function(text: str) -> Any:
    path, name = split_kernel(text)
    if name is None:
        raise UsageError(f"--reference {text}: expected FILE.py:FUNCTION")
    if not Path(path).is_file():
        raise UsageError(missing_file(path))
    found = getattr(run_file(Path(path)), name, None)
    if not callable(found):
        raise UsageError(f"{path} has no function '{name}'")
    return found
