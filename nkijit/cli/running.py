"""The command that runs a kernel on files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from nkijit.cli.arguments import (
    arrays_in_order,
    call_arguments,
    named_arrays,
    result_arrays,
    save,
    stored_as,
)
from nkijit.cli.finding import tell_first_nan
from nkijit.cli.options import Strict
from nkijit.cli.selection import Selection
from nkijit.failures import UsageError
from nkijit.traced import SANITIZE_VARIABLE, TracedKernel


def run(
    *,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "-i",
            "--input",
            metavar="NAME=FILE.npy",
            help="a tensor argument, in NumPy's format; NAME= may be left out, in order",
        ),
    ] = None,
    outputs: Annotated[
        list[Path] | None,
        typer.Option(
            "-o", "--output", metavar="FILE.npy", help="where results go, in order; else printed"
        ),
    ] = None,
    kernels: Selection,
    sanitize: Annotated[
        bool, typer.Option("--sanitize", help="stop at a read of what nothing has written")
    ] = False,
    strict: Strict = None,
    first_nan: Annotated[
        bool,
        typer.Option(
            "--first-nan", help="find the instruction that makes the first NaN or infinity"
        ),
    ] = False,
) -> None:
    """Run a kernel on NumPy files.

    Low-precision types that NumPy's format does not know are read and written as their bits
    (uint8 or uint16).
    """
    if first_nan:
        tell_first_nan(kernels, inputs or (), strict)
        return
    if sanitize:
        os.environ[SANITIZE_VARIABLE] = "1"
    arrays = dict(named_arrays(inputs or []))
    if kernels.is_ir:
        traced = kernels.one()
        leaves = traced.argument_types
        given = arrays_in_order(arrays, [name for name, _, _ in leaves])
        values = [
            stored_as(array, dtype, name)
            for array, (name, _, dtype) in zip(given, leaves, strict=True)
        ]
        _check_outputs(traced, outputs)
        result = traced.run(*values, strict=strict)
    else:
        kernel = kernels.kernel()
        if strict is not None:
            kernel = kernel.strict(strict)
        arguments = call_arguments(kernel, arrays, kernels.arg or [])
        if outputs:
            _check_outputs(kernel.trace(**arguments), outputs)
        result = kernel(**arguments)
    results = result_arrays(result)
    for index, array in enumerate(results):
        if outputs:
            save(outputs[index], array)
        else:
            print(array)


def _check_outputs(traced: TracedKernel, outputs: list[Path] | None) -> None:
    """A kernel may run for long: what is wrong with its results' names is told before."""
    results = len(traced.result_types)
    if outputs and len(outputs) != results:
        raise UsageError(f"the kernel has {results} results, -o is given {len(outputs)} times")
