"""The table of commands, and the exit codes and error messages that they share.

A command's module is imported when the command is run, so that `nkijit --help` is fast; this module
has only its help line. To add a command, write a function in a module of this package and add a
line to `COMMANDS`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from nkijit.host.exit_status import ended_by_signals
from nkijit.version import __version__

COMMANDS = {
    "trace": (
        "tracing:trace",
        "Trace a kernel and print its IR. Findings go to standard error, the IR is printed anyway.",
    ),
    "verify": (
        "tracing:verify",
        "Check a kernel against the rules of the hardware; prints every finding.",
    ),
    "list": (
        "lowering:list_",
        "Print what each queue of a core runs, with addresses, waits and signals.",
    ),
    "lower": (
        "lowering:lower",
        "Lower a kernel to queues of engine instructions and print the IR.",
    ),
    "export": (
        "exporting:export",
        "Write a kernel, traced or as IR, as a plain file of today's NKI that traces to it again.",
    ),
    "migrate": (
        "migrating:migrate",
        "Rewrite kernels of the classic API in today's, and prove that they compute the same.",
    ),
    "memory": (
        "reports:memory",
        "Show what is in SBUF and PSUM over time, by the names of tiles, also if it is too much.",
    ),
    "profile": (
        "reports:profile",
        "Predict how long a kernel takes, and why: engines, DMA, critical path, waits.",
    ),
    "advise": (
        "advising:advise",
        "Say what would make a kernel faster, and by how much: each change is tried on the model.",
    ),
    "cost": (
        "costing:cost",
        "Print what a kernel costs in short: predicted time, memory, critical lines, findings.",
    ),
    "sweep": (
        "sweeping:sweep",
        "Predict variants of a kernel, with other values of its arguments, and find the best.",
    ),
    "diff": (
        "reports:diff",
        "Show what differs between two kernels: instructions, IR, memory, predicted time.",
    ),
    "report": (
        "reports:report",
        "Write one HTML page: source, IR and listing side by side, timeline, profile, memory.",
    ),
    "watch": (
        "watching:watch",
        "Check a kernel each time that it is saved, and show its report in the browser.",
    ),
    "run": (
        "running:run",
        "Run a kernel on NumPy files, or on random data: `-a x=128x512:float32` without `-i`.",
    ),
    "record": (
        "recording:record",
        "Run a kernel and show what each line wrote: shapes, least and largest, NaN.",
    ),
    "bisect": (
        "bisecting:bisect",
        "Find the first instruction that departs from a reference by more than rounding explains.",
    ),
    "lsp": (
        "serving:lsp",
        "Be a language server: findings, times and IR of kernels in an editor, as they are typed.",
    ),
    "mcp": (
        "serving:mcp",
        "Be a server of the Model Context Protocol: agents ask it about kernels.",
    ),
    "explain": (
        "explaining:explain",
        "Explain a rule (what it says, what to do, who has it, its source), or what can be called.",
    ),
    "lit-config": (
        "testing:lit_config",
        "Print a lit.cfg.py, with which lit runs FileCheck tests of kernels.",
    ),
}
"""Module and function of each command, and its help line, in the order of `nkijit --help`."""

FOUND, FAILED = 1, 2
"""Exit codes: the kernel has errors; the command failed."""

_SETTINGS: dict[str, Any] = {
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class _Commands(TyperGroup):
    """A group that imports a command when it is run or its help is requested."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and whole(str(name)), rest


app = typer.Typer(
    name="nkijit",
    cls=_Commands,
    no_args_is_help=True,
    **_SETTINGS,
)


def _version(asked: bool) -> None:
    if asked:
        print(f"nkijit {__version__}")
        raise typer.Exit


@app.callback()
def nkijit(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """Trace, check and run kernels for AWS Trainium on this machine.

    A kernel is named as FILE.py:KERNEL (the name may be left out when the file has one kernel),
    or as FILE.mlir, the text that `nkijit trace` prints.

    Give the kernel's arguments with -a: a tensor as NAME=SHAPE:DTYPE, anything else as a Python
    literal. Example:

        nkijit trace kernel.py -a x=128x512:float32 -a scale=2.0

    Exit codes: 0 no errors, 1 the kernel has errors, 2 the command could not do what it was asked.
    """


def _stub() -> None:
    """Placeholder for a command that has not been imported."""


for _name, (_, _line) in COMMANDS.items():
    app.command(_name, help=_line)(_stub)


@cache
def whole(name: str) -> Any:
    """Import a command and return it with all of its options."""
    from nkijit.cli.options import with_options

    module, _, function = COMMANDS[name][0].partition(":")
    command = getattr(import_module(f"nkijit.cli.{module}"), function)
    one = typer.Typer(add_completion=False, **_SETTINGS)
    one.command(name)(_reported(with_options(command)))
    return typer.main.get_command(one)


def _reported(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that exceptions end it with a message and an exit code."""

    @wraps(command)
    def call(**options: object) -> None:
        try:
            command(**options)
        except (typer.Exit, BrokenPipeError):
            raise
        except Exception as error:
            raise typer.Exit(_told(error)) from None

    return call


def _told(error: Exception) -> int:
    """Print the exception that ended a command. Returns the exit code."""
    from nkijit.discovery.errors import failure_of
    from nkijit.host.terminal import show_findings
    from nkijit.passes.diagnostics.errors import GOES_ON, NkiValidationError

    if isinstance(error, NkiValidationError):
        show_findings(error.diagnostics, sys.stderr)
        if error.may_go_on:
            print(f"--no-strict {GOES_ON}", file=sys.stderr)
        return FOUND
    print(failure_of(error).message, file=sys.stderr)
    return FAILED


@ended_by_signals
def main() -> None:
    """Entry point of the command."""
    app()
