"""`nkijit run`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from nkijit.cli.arguments import (
    result_arrays,
    save,
)
from nkijit.cli.finding import tell_first_nan
from nkijit.cli.options import WRITTEN, Strict
from nkijit.cli.selection import Selection
from nkijit.cli.values import Call, Inputs, Seed
from nkijit.dialects.spelling import counted
from nkijit.discovery.errors import UsageError
from nkijit.host.terminal import waiting
from nkijit.traced.kernel import TracedKernel
from nkijit.traced.runs import SANITIZE_VARIABLE


def run(
    *,
    inputs: Inputs = None,
    outputs: Annotated[
        list[Path] | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE.npy",
            help="file for a result, in order; results are printed by default",
        ),
        WRITTEN,
    ] = None,
    kernels: Selection,
    sanitize: Annotated[
        bool, typer.Option("--sanitize", help="stop at reads of values that were never written")
    ] = False,
    seed: Seed = 0,
    strict: Strict = None,
    first_nan: Annotated[
        bool,
        typer.Option(
            "--first-nan", help="find the instruction that makes the first NaN or infinity"
        ),
    ] = False,
) -> None:
    """Run a kernel on NumPy files, or on random data.

    Tensors are read from -i, or are random data of the shapes given with -a x=128x512:float32.
    Low-precision types, which NumPy's format lacks, are read and written as uint8 or uint16.
    """
    call = Call(kernels, inputs or (), seed)
    if first_nan:
        tell_first_nan(call, strict)
        return
    if sanitize:
        os.environ[SANITIZE_VARIABLE] = "1"
    if kernels.is_ir:
        traced = kernels.one()
        with waiting(f"running {traced.name}"):
            values = call.arrays(traced)
            _check_outputs(traced, outputs)
            result = traced.run(*values, strict=strict)
    else:
        kernel = call.kernel(strict)
        with waiting(f"running {kernel.__name__}"):
            arguments = call.arguments()
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
    """Check the number of output files, before a run that may take long."""
    results = len(traced.result_types)
    if outputs and len(outputs) != results:
        given = counted(len(outputs), "time")
        raise UsageError(f"the kernel has {counted(results, 'result')}, -o is given {given}")
