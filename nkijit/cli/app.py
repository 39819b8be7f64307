"""The `nkijit` command with all of its commands."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps

import typer

from nkijit.cli.advising import advise
from nkijit.cli.explaining import explain
from nkijit.cli.lowering import list_, lower
from nkijit.cli.options import with_options
from nkijit.cli.reports import diff, memory, profile, report
from nkijit.cli.running import run
from nkijit.cli.testing import lit_config
from nkijit.cli.tracing import trace, verify
from nkijit.commands import ended_by_signals
from nkijit.failures import failure_of
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.terminal import show_findings

app = typer.Typer(
    name="nkijit",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Trace, check and run kernels for AWS Trainium on this machine.

    A kernel is named as FILE.py:KERNEL (the name may be left out when the file has one kernel),
    or as FILE.mlir, the text that `nkijit trace` prints.

    Give the kernel's arguments with -a: a tensor as NAME=SHAPE:DTYPE, anything else as a Python
    literal. Example:

        nkijit trace kernel.py -a x=128x512:float32 -a scale=2.0
    """,
)


def _reported(command: Callable[..., None]) -> Callable[..., None]:
    """Mistakes of the user end a command with a message, not with a traceback."""

    @wraps(command)
    def call(**options: object) -> None:
        try:
            command(**options)
        except NkiValidationError as error:
            show_findings(error.diagnostics, sys.stderr)
            raise typer.Exit(1) from None
        except (typer.Exit, BrokenPipeError):
            raise
        except Exception as error:
            print(failure_of(error).message, file=sys.stderr)
            raise typer.Exit(1) from None

    return call


for command in (
    *(trace, verify, list_, lower, memory, profile, advise, diff, report, run, explain),
    lit_config,
):
    name = command.__name__.rstrip("_").replace("_", "-")
    app.command(name)(_reported(with_options(command)))


@ended_by_signals
def main() -> None:
    """Entry point of the command."""
    app()
