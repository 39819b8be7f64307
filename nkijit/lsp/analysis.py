"""Analysis of the text of a Python file with kernels. Returns plain data.

The analysis executes the file and traces its kernels, so it runs in a separate process.
"""

from __future__ import annotations

import ast
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nkijit.discovery.checking import check
from nkijit.discovery.examples import ExampleError
from nkijit.discovery.python_files import run_unsaved
from nkijit.discovery.selection import Chosen, chosen_of
from nkijit.host.output_files import write_text
from nkijit.lsp.facts import Analysis, Insertion, KernelView, LineTime, Problem
from nkijit.lsp.syntax import of_syntax_error, syntax_problem
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.places import Position, Span, positions
from nkijit.passes.diagnostics.source_text import lines_of, source_line, source_text
from nkijit.passes.lower.program import LoweringError
from nkijit.passes.profile.figures import LineUse
from nkijit.passes.profile.simulate import SimulationError
from nkijit.passes.report.printing import printed
from nkijit.traced.kernel import TracedKernel
from nkijit.tracing.locations import column_in_line, definition_of


def analyse(
    path: str, text: str, folder: Path, portable: bool | None = None, nki: str | None = None
) -> Iterator[Analysis]:
    """Analyse a file. Yields its problems first, then problems and predicted times.

    Args:
        path: the absolute path of the file.
        text: the text of the file in the editor.
        folder: the folder to which the IR of the kernels is written.
        portable: whether to check kernels against a release of NKI; None: the project decides.
        nki: the version of the release; None: the project decides.
    """
    problem = syntax_problem(path, text)
    if problem is not None:
        yield Analysis((problem,))
        return
    try:
        module = run_unsaved(Path(path), text)
        found = [each for each in chosen_of(module, path) if _file_of(each) == path]
    except NkiValidationError as error:  # the file itself calls a kernel
        yield Analysis(tuple(_of_finding(path, d, _whole_line(path, 1)) for d in error.diagnostics))
        return
    except (Exception, SystemExit) as error:
        yield Analysis((_of_exception(path, error),))
        return
    kernels = [
        _Kernel(path, text, chosen.with_portability(portable, nki), folder) for chosen in found
    ]
    for kernel in kernels:
        kernel.verify()
    problems = _merged(p for kernel in kernels for p in kernel.problems)
    yield Analysis(problems, tuple(k.view for k in kernels), complete=False)
    for kernel in kernels:
        kernel.predict()
    yield Analysis(problems, tuple(k.view for k in kernels))


def _merged(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems without duplicates, with the related places of all duplicates.

    Duplicates arise if several kernels, or several sets of arguments, call the same function.
    """
    found: dict[tuple[Any, ...], Problem] = {}
    for problem in problems:
        # The lines after the first are notes, such as the number of occurrences, and help.
        key = (problem.span, problem.rule, problem.message.partition("\n")[0])
        before = found.get(key, problem)
        related = dict.fromkeys((*before.related, *problem.related))
        found[key] = replace(before, related=tuple(related))
    return tuple(found.values())


class _Kernel:
    """The analysis of one kernel: its problems, and its `KernelView` (the results so far)."""

    def __init__(self, path: str, text: str, chosen: Chosen, folder: Path):
        self._path, self._text, self._chosen, self._folder = path, text, chosen, folder
        code = chosen.kernel.__code__
        place = definition_of(code)
        self._span = Span(place, place.line, place.column + place.width)
        self.problems: list[Problem] = []
        self.view = KernelView(
            chosen.name, self._span, code.co_firstlineno, chosen.target_in_words, ""
        )
        self._traced: TracedKernel | None = None

    def verify(self) -> None:
        """Trace the kernel with each set of arguments and collect the findings."""
        found: list[Diagnostic] = []
        is_known = True
        try:
            is_known = self._chosen.is_known
            sets = self._chosen.arguments or ({},)
            for values in sets if is_known else (None,):
                found += self._found(values)
        except (Exception, SystemExit) as error:
            self.problems.append(_of_exception(self._path, error, self._span))
        findings = self._chosen.reported(found)
        self.problems += [_of_finding(self._path, d, self._span) for d in findings]
        if not is_known:
            self.problems.append(self._unknown())
            self.view = replace(self.view, note="its arguments are not known")
            return
        self.view = replace(self.view, summary=Findings(findings).summary())
        if self._traced is not None:
            self._write_ir(self._traced)

    def _found(self, values: Mapping[str, Any] | None) -> Findings:
        result = check(
            self._chosen,
            values,
            tensor_option='{name}="128x512:float32"',
            value_option="{name}=2.0",
        )
        self._traced = self._traced or result.traced
        return result.findings

    def _unknown(self) -> Problem:
        """Return the problem that a kernel's arguments are unknown, with an edit as remedy."""
        chosen = self._chosen
        needed = " and ".join(chosen.needed)
        are = "is" if len(chosen.needed) == 1 else "are"
        message = (
            f"not checked: {needed} {are} not known. Add {chosen.decorator} above the kernel, or "
            f"an entry under [tool.nkijit.kernels] in pyproject.toml"
        )
        return Problem(self._span, "information", message, remedy=self._remedy())

    def _remedy(self) -> tuple[Insertion, ...]:
        """Return insertions for the `@nkijit.example` decorator and the import that it needs."""
        line = self.view.line
        text = lines_of(self._text)[line - 1]
        indent = text[: len(text) - len(text.lstrip())]
        name, imports = _import_of_nkijit(ast.parse(self._text), line)
        decorator = self._chosen.decorator.replace("nkijit", name, 1)
        return (*imports, Insertion(line, f"{indent}{decorator}\n"))

    def _write_ir(self, traced: TracedKernel) -> None:
        """Write the IR to a file named after the kernel. Editors reload it after each analysis."""
        ir = printed(traced.module)
        lines: dict[int, int] = {}
        for op, (first, _) in ir.lines.items():
            for place in positions(op.location):
                if place.file == self._path:
                    lines.setdefault(place.line, first + 1)
        file = self._folder / f"{self._chosen.name}.mlir"
        write_text(file, ir.text)
        self.view = replace(self.view, ir_file=str(file), ir_lines=tuple(sorted(lines.items())))

    def predict(self) -> None:
        """Predict the kernel's time, unless it has errors."""
        if self._traced is None:
            return
        try:
            profile = self._traced.profile(strict=True)
        except NkiValidationError:
            return
        except (LoweringError, SimulationError) as error:
            self.view = replace(self.view, note=str(error))
            return
        lines: dict[int, list[LineUse]] = {}
        for use in profile.lines:
            if use.place is not None and use.place.file == self._path:
                lines.setdefault(use.place.line, []).append(use)
        self.view = replace(
            self.view,
            time=profile.time,
            bound=profile.bound,
            lines=tuple(_time_of(line, uses) for line, uses in sorted(lines.items())),
        )


def _time_of(line: int, uses: Sequence[LineUse]) -> LineTime:
    """Sum the predicted time of a line over all queues."""
    uses = sorted(uses, key=lambda use: (-use.busy, -use.path))
    return LineTime(
        line,
        sum(use.path for use in uses),
        sum(use.share for use in uses),
        sum(use.busy for use in uses),
        tuple(use.queue for use in uses),
        sum(use.instructions for use in uses),
        tuple(dict.fromkeys(name for use in uses for name in use.mnemonics)),
    )


def _file_of(chosen: Chosen) -> str:
    """Return the file of a kernel's function."""
    code = getattr(chosen.kernel.func, "__code__", None)
    return getattr(code, "co_filename", "")


def _import_of_nkijit(module: ast.Module, line: int) -> tuple[str, tuple[Insertion, ...]]:
    """Return the name of nkijit in a file, and the insertion of its import if it is missing.

    The import is inserted before the first import of the file, or at `line` if there is none.
    """
    imports = [n for n in module.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    for node in imports:
        for name in node.names if isinstance(node, ast.Import) else ():
            if name.name == "nkijit":
                return name.asname or name.name, ()
    first = (n.lineno for n in imports if getattr(n, "module", None) != "__future__")
    return "nkijit", (Insertion(next(first, line), "import nkijit\n"),)


# ------------------------------------------------------------------ problems


def _whole_line(path: str, line: int) -> Span:
    """Return the span of a line without the spaces around its text."""
    text = source_line(path, line)
    first = len(text) - len(text.lstrip()) + 1
    return Span(Position(path, line, first), line, max(len(text.rstrip()), first) + 1)


def _of_finding(path: str, finding: Diagnostic, kernel: Span) -> Problem:
    """Convert a finding to a problem at its innermost line in this file, or at the kernel."""
    where = finding.where
    at = next((i for i, place in enumerate(where) if place.file == path), None)
    related: list[tuple[Position, str]] = []
    if at is None:
        span = kernel
        related += [(place, "here") for place in where[:1]]
    else:
        place = where[at]
        span = Span(place, place.line, place.column + place.width)
        if at == 0 and finding.marked:
            span = finding.marked[0]
        related += [(inner, "inside the call") for inner in where[:at]]
        related += [(outer, "called from here") for outer in where[at + 1 :]]
    related += [(each.start, "and here") for each in finding.marked[1:]]
    related += finding.related
    related += [
        (operand.allocated, f"{operand.name}: {operand.value}, {operand.description}")
        for operand in finding.operands
        if operand.allocated is not None
    ]
    message = "\n".join(
        [f"{finding.subject}: {finding.message}", *finding.notes, f"help: {finding.help}"]
    )
    own = finding.fix is not None and finding.fix.span.start.file == path
    fix = finding.fix if own else None
    return Problem(
        span,
        finding.severity,
        message,
        finding.rule.id,
        tuple(related),
        fix=fix,
        is_suppressible=finding.group is not None,
    )


def _of_exception(path: str, error: BaseException, kernel: Span | None = None) -> Problem:
    """Convert an exception of the file or of a trace to a problem at the user's line."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return of_syntax_error(path, error, source_text(path))
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    message = "".join(traceback.format_exception_only(error)).rstrip()
    if isinstance(error, ExampleError):
        return Problem(_whole_line(path, error.where.line), "error", error.message)
    if not frames:
        # Not from this file's code: the request is wrong, such as its arguments.
        span = kernel or _whole_line(path, 1)
        return Problem(span, "error", f"{error}" or message)
    outer = [(Position(path, f.lineno or 1, 1), "called from here") for f in frames[-2::-1]]
    inner: list[tuple[Position, str]] = []
    if isinstance(error, SyntaxError) and error.filename:
        inner = [(Position(error.filename, error.lineno or 1, error.offset or 1), "here")]
    return Problem(_of_frame(path, frames[-1]), "error", message, related=(*inner, *outer))


def _of_frame(path: str, frame: traceback.FrameSummary) -> Span:
    """Return the span of the expression that a frame evaluates; if unknown, of the line."""
    line, end_line = frame.lineno or 1, frame.end_lineno
    if frame.colno is None or frame.end_colno is None or end_line is None:
        return _whole_line(path, line)
    start = Position(path, line, column_in_line(path, line, frame.colno))
    return Span(start, end_line, column_in_line(path, end_line, frame.end_colno))


def out_of_time(path: str, error: BaseException, seconds: float) -> Problem:
    """Return the problem of a file that exceeded its time limit, at the line being executed."""
    return replace(_of_exception(path, error), message=f"still running after {seconds:g} s")
