"""`nkijit trace` and `nkijit verify`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from nkijit.cli.collecting import Files
from nkijit.cli.fixing import fix_file
from nkijit.cli.options import Locations, Output
from nkijit.cli.selection import Selection
from nkijit.dialects.spelling import numbered
from nkijit.discovery.checking import check
from nkijit.discovery.errors import UsageError, failure_of
from nkijit.discovery.python_files import STDIN
from nkijit.discovery.selection import Chosen, no_kernel
from nkijit.host.terminal import has_colours, progress_bar, show_findings, waiting
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.documents import KernelFindings, as_json
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.sarif import as_sarif
from nkijit.passes.diagnostics.styled import Line, as_ansi, as_text, line
from nkijit.releases.table import release
from nkijit.version import __version__


def trace(
    kernels: Selection,
    *,
    locations: Locations = False,
    generic: Annotated[bool, typer.Option("--generic", help="print MLIR's generic form")] = False,
    rolled: Annotated[
        bool, typer.Option("--rolled", help="print repeated instructions once, in loops")
    ] = False,
    output: Output,
) -> None:
    """Trace a kernel and print its IR.

    Findings go to standard error; the IR is printed even if there are errors.

    With --rolled, Python loops are printed as loops (`nki.repeat`) if their iterations differ only
    in numbers. All commands accept this form as well.
    """
    found = kernels.with_all_warnings()
    with waiting("writing the IR"):
        texts = [t.text(locations=locations, generic=generic, rolled=rolled) for t in found]
    output.write("".join(texts))
    for traced in found:
        with waiting(f"checking @{traced.name}"):
            findings = kernels.reported(traced.diagnostics)
        if findings:
            show_findings(findings, sys.stderr)


def verify(
    files: Files,
    *,
    portable: Annotated[
        bool | None,
        typer.Option(
            "--portable/--no-portable",
            help="warn about Python that the vendor's compiler does not support; default as in "
            "pyproject.toml, else no",
        ),
    ] = None,
    nki: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE",
            help="with --portable: check for this release of NKI, e.g. 0.5; default as in "
            "pyproject.toml, else the newest",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("-p", "--pass", metavar="PASS", help="run this pass only, e.g. verify-access"),
    ] = None,
    require_arguments: Annotated[
        bool,
        typer.Option(
            "--require-arguments",
            help="exit with 1 if a kernel is not checked because its arguments are not known",
        ),
    ] = False,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="edit the files first: apply the fixes of findings, such as a misspelt name, if "
            "the finding vanishes and no other appears",
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="print one JSON document")] = False,
    sarif: Annotated[
        bool, typer.Option("--sarif", help="print a SARIF 2.1.0 document, for code hosts")
    ] = False,
    output: Output,
) -> None:
    """Check kernels against the rules of the hardware and print all findings.

    Given several files or a folder, checks every kernel whose arguments are known, from
    @nkijit.example or from the table tool.nkijit in pyproject.toml. In a folder, files with a
    function under @nki.jit are searched for kernels.

    With --portable, arguments are optional: without them, only the kernel's source is checked.
    --portable also checks the names and arguments of the newest release of NKI, or that of --nki,
    and with arguments warns of the known defects of this release. A project sets its default with
    portable = true and nki = "0.6" in tool.nkijit.
    With --json or --sarif, a document is also printed when a kernel cannot be traced.
    """
    if json and sarif:
        raise UsageError("--json and --sarif exclude each other")
    if nki is not None and not portable:
        raise UsageError("--nki needs --portable")
    try:
        release(nki)
    except ValueError as error:
        raise UsageError(str(error)) from None
    form = as_json if json else as_sarif if sarif else None
    checker = _Checker(portable, nki, tuple(only or ()), fixing=fix)
    try:
        for selection in files.selections() if fix else ():
            with waiting(f"fixing {selection.file}"):
                fixed = list(fix_file(selection, checker.found_in))
            for text in fixed:
                print(text, file=sys.stderr if form is not None else sys.stdout)
        checker.files(files)
        if not checker.findings and not (require_arguments and checker.unknown):
            raise UsageError(checker.nothing(files))
    except Exception as error:
        if form is not None:
            output.write_document(form(checker.findings, failure_of(error), __version__))
        raise
    if form is not None:
        output.write_document(form(checker.findings, None, __version__))
    elif output.output is not None:
        output.write(f"{checker.text()}\n")
    else:
        checker.show()
    if checker.errors or (require_arguments and checker.unknown):
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Checked:
    """The findings of one kernel of a Python file, or of all kernels of a .mlir file."""

    label: str
    kernels: Sequence[KernelFindings]
    of: str = ""
    """The target and how it was chosen, in words: `for trn3 (default)`. Empty for IR."""


class _Checker:
    """Checks kernels and collects their findings."""

    def __init__(
        self,
        portable: bool | None,
        nki: str | None,
        passes: Sequence[str],
        *,
        fixing: bool = False,
    ):
        self._portable, self._nki, self._passes = portable, nki, passes
        self._fixing = fixing
        self._checked: list[_Checked] = []
        self.unknown: list[Chosen] = []
        """Kernels that were not checked: their arguments are not known."""
        self._unreadable: Mapping[Path, str] = {}

    @property
    def findings(self) -> list[KernelFindings]:
        return [kernel for each in self._checked for kernel in each.kernels]

    @property
    def errors(self) -> int:
        return sum(found.findings.errors for found in self.findings)

    def found_in(self, kernels: Sequence[Chosen]) -> list[tuple[str, Diagnostic]]:
        """Return the findings of kernels, each with the label of its kernel."""
        found: list[tuple[str, Diagnostic]] = []
        for chosen in map(self._requested, kernels):
            sets = (chosen.arguments or ({},)) if chosen.is_known else ()
            of_kernel = [d for values in sets for d in self._found(chosen, values)]
            found += [(chosen.label, d) for d in chosen.reported(of_kernel)]
        return found

    def files(self, files: Files) -> None:
        selections = files.selections()
        self._unreadable = files.unreadable
        several = len(selections) > 1 or files.has_folder
        with progress_bar("checking") as update:
            for done, selection in enumerate(selections):
                if several:
                    update(done / len(selections))
                if selection.is_ir:
                    self._ir(selection)
                    continue
                kernels = [self._requested(chosen) for chosen in selection.all_chosen()]
                if not kernels and not several:
                    raise no_kernel(selection.file, selection.python_module)
                if selection.arg and len(kernels) > 1:
                    names = ", ".join(chosen.name for chosen in kernels)
                    raise UsageError(
                        f"-a applies to one kernel, but {selection.file} has {len(kernels)}: "
                        f"{names}; name one as {selection.file}:KERNEL"
                    )
                for chosen in kernels:
                    self._kernel(chosen, alone=not several and len(kernels) == 1)

    def _ir(self, selection: Selection) -> None:
        if self._portable:
            raise UsageError("--portable checks Python source, which a .mlir file does not have")
        found = [
            KernelFindings(
                t.name,
                t.target.platform,
                selection.reported(t.find(*self._passes) if self._passes else t.diagnostics),
            )
            for t in selection.with_all_warnings()
        ]
        self._checked.append(_Checked(selection.file, found))

    def _kernel(self, chosen: Chosen, *, alone: bool) -> None:
        sets: Sequence[Mapping[str, Any] | None] = chosen.arguments
        if not sets and self._portable:
            sets = (None,)
        elif not sets and not alone and not chosen.is_known:
            self.unknown.append(chosen)
            sets = (None,) if chosen.portable else ()
        elif not sets:
            sets = ({},)
        found = list[Diagnostic]()
        for values in sets:
            found += self._found(chosen, values)
        if sets:
            traced = any(values is not None for values in sets)
            platform = chosen.kernel.target.platform if traced else None
            entry = KernelFindings(chosen.kernel.__name__, platform, chosen.reported(found))
            self._checked.append(
                _Checked(chosen.label, [entry], chosen.target_in_words if traced else "")
            )

    def _requested(self, chosen: Chosen) -> Chosen:
        if self._portable and chosen.kernel.is_classic:
            raise UsageError(
                f"--portable: {chosen.label}: portability is checked for kernels of the current "
                "API only"
            )
        return chosen.with_portability(self._portable, self._nki)

    def _found(self, chosen: Chosen, values: Mapping[str, Any] | None) -> Findings:
        with waiting(f"checking {chosen.label}"):
            return check(chosen, values, *self._passes).findings

    def text(self) -> str:
        """Return all findings, and the kernels that were checked, as text."""
        return "\n".join(as_text(lines) for lines in self._lines())

    def show(self) -> None:
        for lines in self._lines():
            print(as_ansi(lines) if has_colours(sys.stdout) else as_text(lines))

    def _lines(self) -> Iterator[list[Line]]:
        several = len(self._checked) + len(self.unknown) > 1
        for each in self._checked:
            found = Findings(d for kernel in each.kernels for d in kernel.findings)
            lines = found.lines(each.of)
            if several:
                lines[-1] = line(f"{each.label}: ", *lines[-1])
            yield lines
        for chosen in self.unknown:
            yield _unknown(chosen)
        for path, why in self._unreadable.items():
            yield [line(f"{path}: not checked: {why}")]
        fixes = sum(d.fix is not None for kernel in self.findings for d in kernel.findings)
        if fixes and not self._fixing:
            yield [line(f"{fixes} with a fix: nkijit verify --fix applies it where it helps")]

    def nothing(self, files: Files) -> str:
        """Return the message for files of which no kernel was checked."""
        count, skipped = len(self.unknown), f"; {files.skipped}" if files.skipped else ""
        if not count:
            why = "there are no kernels"
        elif count == 1:
            why = "the kernel's arguments are not known"
        else:
            why = f"the arguments of all {numbered(count, 'kernel')} are not known"
        lines = [f"nothing was checked: {why}{skipped}"]
        lines += [as_text(_unknown(chosen)) for chosen in self.unknown[:_MOST_UNKNOWN]]
        if count > _MOST_UNKNOWN:
            names = ", ".join(chosen.label for chosen in self.unknown[_MOST_UNKNOWN:])
            lines.append(f"for the same reason, not checked: {names}")
        return "\n".join(lines)


_MOST_UNKNOWN = 3
"""The number of kernels without arguments for which the advice is printed in full."""


def _unknown(chosen: Chosen) -> list[Line]:
    """Return lines about a kernel that was not checked, with advice on how to pass arguments."""
    needed = chosen.needed
    are = "is" if len(needed) == 1 else "are"
    text = f"{chosen.label}: not checked: {' and '.join(needed)} {are} not known"
    if chosen.path == STDIN:
        return [line(f"{text}. Add -a for each, and name the kernel: -- -:{chosen.name}")]
    example = ", ".join(f'{name} = "128x512:float32"' for name in needed)
    return [
        line(f"{text}. Add to pyproject.toml:"),
        line(f'    [tool.nkijit.kernels."{chosen.label}"]'),
        line(f"    arguments = {{ {example} }}"),
        line(f"or above the kernel: {chosen.decorator}"),
    ]
