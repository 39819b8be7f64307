"""Commands on a kernel as it was traced: its IR, and its findings."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from nkijit.cli.arguments import checked
from nkijit.cli.options import Locations, Output
from nkijit.cli.selection import Selection
from nkijit.failures import UsageError, failure_of
from nkijit.kernel import Kernel
from nkijit.passes.diagnostics.documents import KernelFindings, as_json
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.sarif import as_sarif
from nkijit.releases import release
from nkijit.terminal import show_findings


def trace(
    kernels: Selection,
    *,
    locations: Locations = False,
    generic: Annotated[bool, typer.Option("--generic", help="print MLIR's generic form")] = False,
    output: Output,
) -> None:
    """Trace a kernel and print its IR. Findings go to standard error, the IR is printed anyway."""
    found = kernels.traced()
    output.write("".join(t.text(locations=locations, generic=generic) for t in found))
    for traced in found:
        if traced.diagnostics:
            show_findings(traced.diagnostics, sys.stderr)


def verify(
    kernels: Selection,
    *,
    portable: Annotated[
        bool,
        typer.Option("--portable", help="warn of Python that the vendor's compiler does not take"),
    ] = False,
    nki: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE",
            help="with --portable: judge for this release of NKI, e.g. 0.5, not the newest",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("-p", "--pass", metavar="PASS", help="run this pass only, e.g. verify-access"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="print one JSON document")] = False,
    sarif: Annotated[
        bool, typer.Option("--sarif", help="print a SARIF 2.1.0 document, for code hosts")
    ] = False,
    output: Output,
) -> None:
    """Check a kernel against the rules of the hardware; prints every finding.

    With --portable, no arguments are needed: without any, only the kernel's source is judged. It
    is about the names and arguments of the newest release of NKI, too, or of that of --nki.
    With --json and --sarif, there is a document also when the kernel cannot be traced.
    """
    if json and sarif:
        raise UsageError("--json and --sarif are two documents; ask for one")
    if nki is not None and not portable:
        raise UsageError("--nki names the release that --portable is about; ask for that, too")
    form = as_json if json else as_sarif if sarif else None
    try:
        judged = _judged(kernels, portable, nki, only or ())
    except Exception as error:
        if form is not None:
            output.write_document(form([], failure_of(error), _version()))
        raise
    found = Findings(d for kernel in judged for d in kernel.findings)
    if form is not None:
        output.write_document(form(judged, None, _version()))
    elif output.output is not None:
        output.write(f"{found}\n")
    else:
        show_findings(found, sys.stdout)
    if any(d.severity == "error" for d in found):
        raise typer.Exit(1)


def _portability(kernel: Kernel, values: Mapping[str, Any], nki: str | None) -> Findings:
    try:
        release(nki)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return kernel.portability(nki=nki, **values)


def _version() -> str:
    return importlib.metadata.version("nkijit")


def _judged(
    kernels: Selection, portable: bool, nki: str | None, passes: Sequence[str]
) -> list[KernelFindings]:
    """The kernels with what is found in them."""
    if kernels.is_ir:
        if portable:
            raise UsageError(
                "--portable is about a kernel's Python source, which a .mlir file lacks"
            )
        return [
            KernelFindings(t.name, t.target.platform, t.find(*passes) if passes else t.diagnostics)
            for t in kernels.traced()
        ]
    kernel = kernels.kernel()
    values = kernels.values
    found = list(_portability(kernel, values, nki)) if portable else []
    if portable and not values:
        return [KernelFindings(kernel.__name__, None, Findings(found))]
    try:
        traced = kernel.trace(**checked(kernel, values))
        found += traced.find(*passes) if passes else traced.diagnostics
    except NkiValidationError as error:  # the trace has come to an end
        found += error.diagnostics
    # What is wrong with a comment is found by both.
    found = Findings(dict.fromkeys(found))
    return [KernelFindings(kernel.__name__, kernel.target.platform, found)]
