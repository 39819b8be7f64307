"""The command line argument for the kernels of a file, and the options for tracing them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from xdsl.dialects.builtin import ModuleOp

from nkijit.dialects.core_program import CoreProgram
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.spelling import did_you_mean
from nkijit.discovery.checking import check
from nkijit.discovery.config import split_kernel
from nkijit.discovery.errors import UsageError
from nkijit.discovery.option_values import argument_values
from nkijit.discovery.python_files import STDIN, run_file, run_text
from nkijit.discovery.selection import Chosen, KernelRequest, check_shared, chosen_of, the_only
from nkijit.host.missing_files import missing_file
from nkijit.host.terminal import waiting
from nkijit.ir.text import launches_of, load_module, looks_like_ir, parse
from nkijit.kernels.kernel import Kernel
from nkijit.passes.diagnostics.denial import Denial
from nkijit.passes.diagnostics.errors import stop_at_errors
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.source_text import hold_text
from nkijit.traced.kernel import TracedKernel

STANDARD_INPUT = "-"
FILE_HELP = "FILE.py, FILE.py:KERNEL, or FILE.mlir; - is standard input"

File = Annotated[str, typer.Argument(metavar="FILE[:KERNEL]", help=FILE_HELP)]


@dataclass(frozen=True, kw_only=True)
class Tracing:
    """Options for tracing the kernels of a Python file."""

    arg: Annotated[
        list[str] | None,
        typer.Option(
            "-a",
            "--arg",
            metavar="NAME=VALUE",
            help="an argument: x=128x512:float32 for a tensor, scale=2.0 for a value, "
            "mode=\"'fast'\" for a string; nkijit explain arguments lists all forms",
        ),
    ] = None
    target: Annotated[
        str | None,
        typer.Option(
            "-t",
            "--target",
            metavar="NAME",
            help="trn1, trn2 or trn3; default trn3 (classic kernels: trn2)",
        ),
    ] = None
    cores: Annotated[
        int | None,
        typer.Option("-c", "--cores", metavar="N", help="number of cores, 1 or 2"),
    ] = None

    deny: Annotated[
        list[str] | None,
        typer.Option(
            "--deny",
            metavar="GROUP|RULE",
            help="count these warnings as errors: suspicious, advice, portability, warnings (all), "
            "or a rule",
        ),
    ] = None

    @property
    def denial(self) -> Denial:
        """The warnings that `--deny` turns into errors. Raises UsageError for unknown warnings."""
        try:
            return Denial(tuple(self.deny or ()))
        except ValueError as error:
            raise UsageError(f"--deny: {error}") from None

    def of(self, file: str) -> Selection:
        """Return the selection for a file.

        The selection of a .mlir file has no options, because the file contains traced kernels.
        """
        if _is_ir(file):
            return Selection(file=file)
        return Selection(
            file=file, arg=self.arg, target=self.target, cores=self.cores, deny=self.deny
        )


@dataclass(frozen=True, kw_only=True)
class Other:
    """Options for the second kernel of a comparison."""

    other_arg: Annotated[
        list[str] | None,
        typer.Option(
            "-b",
            "--other-arg",
            metavar="NAME=VALUE",
            help="an argument of the other kernel only; an argument of -a is for each of the two "
            "kernels that has it",
        ),
    ] = None

    def of(self, kernels: Selection, against: str | None) -> tuple[Selection, Selection | None]:
        """Return the selection of a command, and of the kernel to compare with, if there is one.

        Args:
            kernels: the selection of the command's own options.
            against: the file to compare with, from --against.

        Raises UsageError as `pair` does, and for -b without a second kernel.
        """
        if against is not None:
            return self.pair(kernels.file, against, kernels)
        if self.other_arg:
            raise UsageError("-b needs --against")
        return kernels, None

    def pair(self, first: str, second: str, tracing: Tracing) -> tuple[Selection, Selection]:
        """Return the selections for the two files of a comparison.

        An argument of -a applies to each of the kernels that has a parameter of this name.

        Args:
            first: the first file.
            second: the second file.
            tracing: the options of the comparison.

        Raises UsageError for -b with IR, and for arguments of -a that neither kernel has.
        """
        if self.other_arg and _is_ir(second):
            raise UsageError(f"{second} is traced already: -b does not apply")
        shared = argument_values(tracing.arg or [])
        pair = (
            _Compared.of_two(first, None, tracing, shared),
            _Compared.of_two(second, self.other_arg, tracing, shared),
        )
        check_shared(shared, [each.chosen() for each in pair if not each.is_ir])
        return pair


@dataclass(frozen=True, kw_only=True)
class Selection(Tracing):
    """The file of a command, and the options for tracing its kernels."""

    file: File

    @property
    def is_ir(self) -> bool:
        """Whether the file is IR, so its kernels are traced already."""
        if self.file == STANDARD_INPUT:
            return looks_like_ir(_stdin())
        return _is_ir(self.file)

    @property
    def values(self) -> dict[str, Any]:
        """The kernel's arguments from `-a`."""
        return argument_values(self.arg or [])

    def traced(self) -> list[TracedKernel]:
        """Return the kernels of the IR, or trace the only kernel of a Python file.

        Raises NkiValidationError if a kernel has denied warnings.
        """
        kernels = self.with_all_warnings()
        if self.denial if self.is_ir else self.chosen().denial:
            for traced in kernels:
                with waiting(f"checking @{traced.name}"):
                    stop_at_errors(self.reported(traced.diagnostics))
        return kernels

    def with_all_warnings(self) -> list[TracedKernel]:
        """Return the kernels as `traced` does, but allow denied warnings."""
        if self.is_ir:
            return launched(self.module((KernelOp,)))
        chosen = self.chosen()
        arguments = chosen.checked()
        with waiting(f"tracing {chosen.name}"):
            return [chosen.kernel.trace(**arguments)]

    def reported(self, found: Findings) -> Findings:
        """Return the findings that are not suppressed; denied warnings become errors."""
        return Findings(self.denial.applied(found)) if self.is_ir else self.chosen().reported(found)

    def findings(self, traced: TracedKernel, values: Mapping[str, Any] | None = None) -> Findings:
        """Return the findings that `nkijit verify` prints, by the settings of the project.

        Args:
            traced: the only kernel.
            values: its arguments by name; those of the request by default.
        """
        if self.is_ir:
            return self.reported(traced.diagnostics)
        chosen = self.chosen().with_portability(None, None)
        known = chosen.checked() if values is None else values
        return chosen.reported(check(chosen, known).findings)

    def one(self) -> TracedKernel:
        """Return the traced kernel. Raises UsageError when there are several."""
        return only(self.traced())

    def kernel(self) -> Kernel:
        """Return the only kernel of a Python file."""
        return self.chosen().kernel

    def chosen(self) -> Chosen:
        """Return the only kernel of a Python file, with its arguments. Raises UsageError."""
        path, _ = split_kernel(self.file)
        return the_only(self.all_chosen(), path, self.python_module)

    def all_chosen(self) -> list[Chosen]:
        """Return the kernels of a Python file, or only the kernel that FILE:KERNEL names."""
        path, name = split_kernel(self.file)
        shown = STDIN if path == STANDARD_INPUT else path
        return chosen_of(self.python_module, path, name, self.request, shown=shown)

    @property
    def request(self) -> KernelRequest:
        """The options, as a request."""
        return KernelRequest(self.values, self.target, self.cores, self.denial.selectors)

    @cached_property
    def python_module(self) -> ModuleType:
        """The executed Python file."""
        path, _ = split_kernel(self.file)
        if path == STANDARD_INPUT:
            return run_text(_stdin())
        if not Path(path).is_file():
            raise UsageError(missing_file(path))
        if not path.endswith(".py"):
            raise UsageError(f"{path} is not a Python file")
        with waiting(f"importing {path}"):
            return run_file(Path(path))

    def module(self, kinds: tuple[type[CoreProgram], ...]) -> ModuleOp:
        """Parse the IR and keep only its programs of the given kinds.

        Args:
            kinds: the classes of ops to keep (kernels, lowered programs).

        If FILE:KERNEL names a kernel, programs of other kernels are dropped as well. Raises
        UsageError when no program remains.
        """
        path, name = split_kernel(self.file)
        if self.arg or self.target is not None or self.cores is not None:
            raise UsageError("a .mlir file is traced already: -a, -t and -c do not apply")
        with waiting(f"reading {path}"):
            module = _module_of_stdin() if path == STANDARD_INPUT else load_module(path)
        found: list[str] = []
        for op in list(module.walk()):
            if isinstance(op, CoreProgram):
                is_selected = isinstance(op, kinds) and (not name or op.launch_name == name)
                found.append(op.launch_name)
                if not is_selected:
                    op.detach()
        if not any(isinstance(op, kinds) for op in module.walk()):
            near = did_you_mean(name, found) if name else ""
            raise UsageError(f"{path} has no kernel" + (f" '{name}'{near}" if name else ""))
        return module


@dataclass(frozen=True, kw_only=True)
class _Compared(Selection):
    """One of the two files of a comparison."""

    shared: Mapping[str, Any]
    """The arguments for both kernels, each of which takes those that it has."""

    @classmethod
    def of_two(
        cls, file: str, own: list[str] | None, tracing: Tracing, shared: Mapping[str, Any]
    ) -> Selection:
        """Return the selection for a file; `own` has the arguments of this file only."""
        found = replace(tracing, arg=own).of(file)
        return found if found.is_ir else cls(**vars(found), shared=shared)

    @property
    def request(self) -> KernelRequest:
        return replace(super().request, shared=self.shared)


def launched(module: ModuleOp) -> list[TracedKernel]:
    """Return the kernels of a module, one per launch; a kernel may have programs for two cores."""
    return [TracedKernel(module, kernels=cores) for cores in launches_of(module).values()]


def only(traced: Sequence[TracedKernel]) -> TracedKernel:
    """Return the only kernel, for output about a single kernel. Raises UsageError for several."""
    if len(traced) != 1:
        names = ", ".join(t.name for t in traced)
        raise UsageError(f"the file has several kernels, name one: {names}")
    return traced[0]


def _is_ir(file: str) -> bool:
    return split_kernel(file)[0].endswith(".mlir")


def _module_of_stdin() -> ModuleOp:
    hold_text(STDIN, _stdin())
    return parse(_stdin(), STDIN)


@cache
def _stdin() -> str:
    """Return all of standard input, which can be read only once."""
    return sys.stdin.read()
