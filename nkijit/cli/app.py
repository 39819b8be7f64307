"""The table of commands, and the exit codes and error messages that they share.

A command's module is imported when the command is run, so that `nkijit --help` is fast; this module
has only its help line. To add a command, write a function in a module of this package and add a
line to `COMMANDS`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperGroup

from nkijit.host.exit_status import ended_by_signals
from nkijit.version import __version__

COMMANDS = {
    "trace": (
        "tracing:trace",
        "Trace a kernel and print its IR.",
    ),
    "verify": (
        "tracing:verify",
        "Check kernels against the rules of the hardware and print all findings.",
    ),
    "list": (
        "lowering:list_",
        "Print the instructions of each queue, with addresses, waits and signals.",
    ),
    "lower": (
        "lowering:lower",
        "Lower a kernel to queues of engine instructions and print the IR.",
    ),
    "export": (
        "exporting:export",
        "Write a kernel as Python source that traces to the same IR.",
    ),
    "migrate": (
        "migrating:migrate",
        "Rewrite kernels of the classic API in the current API, and compare their results.",
    ),
    "memory": (
        "reports:memory",
        "Show the tiles in SBUF and PSUM over time, also for kernels that exceed the capacity.",
    ),
    "profile": (
        "reports:profile",
        "Predict how long a kernel takes, and why: engines, DMA, critical path, waits.",
    ),
    "advise": (
        "advising:advise",
        "Suggest changes that make a kernel faster, each tried with the timing model.",
    ),
    "optimize": (
        "optimizing:optimize",
        "Search for a faster kernel: changes of advise, composed, predicted and proven.",
    ),
    "cost": (
        "costing:cost",
        "Print a summary of a kernel's cost: predicted time, memory, critical lines, findings.",
    ),
    "sweep": (
        "sweeping:sweep",
        "Predict variants of a kernel with different arguments, and find the best.",
    ),
    "prove": (
        "proving:prove",
        "Prove that two kernels are equal for all inputs, or show the term of an element.",
    ),
    "diff": (
        "reports:diff",
        "Compare two kernels: terms of results, instructions, IR, memory, predicted time.",
    ),
    "report": (
        "reports:report",
        "Write an HTML page: source, IR and listing side by side, timeline, profile, memory.",
    ),
    "watch": (
        "watching:watch",
        "Check a kernel whenever its file is saved, and show its report in the browser.",
    ),
    "run": (
        "running:run",
        "Run a kernel on NumPy files, or on random data.",
    ),
    "record": (
        "recording:record",
        "Run a kernel and show the values that each line writes: shape, minimum, maximum, NaN.",
    ),
    "bisect": (
        "bisecting:bisect",
        "Find the first instruction that differs from a reference by more than rounding.",
    ),
    "lsp": (
        "serving:lsp",
        "Run a language server: findings, predicted times and IR of kernels in an editor.",
    ),
    "mcp": (
        "serving:mcp",
        "Run a server of the Model Context Protocol, with tools for agents that write kernels.",
    ),
    "explain": (
        "explaining:explain",
        "Explain a rule, an instruction, a function, a term or the forms of an argument.",
    ),
    "lit-config": (
        "testing:lit_config",
        "Print a lit.cfg.py for FileCheck tests of kernels.",
    ),
}
"""The commands by name, in the order of `nkijit --help`: (`module:function`, help line)."""

FOUND, FAILED = 1, 2
"""Exit codes: the kernel has errors; the command failed."""

_SETTINGS: dict[str, Any] = {
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class _Commands(TyperGroup):
    """A command group that imports a command's module when the command runs or shows its help."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and whole(str(name)), rest


app = typer.Typer(
    name="nkijit",
    cls=_Commands,
    no_args_is_help=True,
    **_SETTINGS,
)


def _version(requested: bool) -> None:
    if requested:
        from nkijit.releases.table import releases

        first, *_, last = releases()
        print(f"nkijit {__version__}")
        print(
            f"NKI {first.version} to {last.version} (Neuron SDK {first.sdk} to {last.sdk}), and "
            "neuronxcc.nki"
        )
        raise typer.Exit


_F = TypeVar("_F", bound=Callable[..., None])


def with_whole_paragraphs(command: _F) -> _F:
    """Join the lines of each paragraph of a command's docstring; the terminal wraps them.

    Paragraphs with indented lines are examples, whose lines stay.
    """
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    joined = (p if p.startswith(" ") else " ".join(p.split("\n")) for p in paragraphs)
    command.__doc__ = "\n\n".join(joined)
    return command


@app.callback()
@with_whole_paragraphs
def nkijit(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """Trace, check and run kernels for AWS Trainium on this machine.

    Name a kernel as FILE.py:KERNEL, or as FILE.py if the file has one kernel. FILE.mlir is the IR
    that `nkijit trace` prints.

    Give the kernel's arguments with -a: a tensor as NAME=SHAPE:DTYPE, another value as a Python
    literal. Example:

        nkijit trace kernel.py -a x=128x512:float32 -a scale=2.0

    Exit codes: 0 no errors, 1 the kernel has errors, 2 the command failed.
    """


def _stub() -> None:
    """Placeholder for a command that has not been imported."""


for _name, (_, _line) in COMMANDS.items():
    app.command(_name, help=_line)(_stub)


@cache
def whole(name: str) -> Any:
    """Import the module of a command, and return the command with all of its options."""
    from nkijit.cli.options import with_options

    module, _, function = COMMANDS[name][0].partition(":")
    command = getattr(import_module(f"nkijit.cli.{module}"), function)
    one = typer.Typer(add_completion=False, **_SETTINGS)
    one.command(name)(with_whole_paragraphs(_reported(with_options(command))))
    return typer.main.get_command(one)


def _reported(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command: an exception ends the command with a message and an exit code."""

    @wraps(command)
    def call(**options: object) -> None:
        try:
            command(**options)
        except (typer.Exit, BrokenPipeError):
            raise
        except Exception as error:
            raise typer.Exit(_reported_failure(error)) from None

    return call


def _reported_failure(error: Exception) -> int:
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
