"""FileCheck checks of text within a test's process."""

from __future__ import annotations

import contextlib
import io
import textwrap

from nkijit.kernels.kernel import Kernel
from nkijit.testing.kernels import Inputs, traced_of
from nkijit.traced.kernel import TracedKernel
from nkijit.tracing.tracebacks import without_own_frames


@without_own_frames
def filecheck(
    what: object,
    checks: str,
    *,
    inputs: Inputs | None = None,
    prefix: str = "CHECK",
    match_full_lines: bool = False,
) -> None:
    """Assert that a text matches CHECK lines, in their order.

    Args:
        what: a text, or an object with a text: a traced kernel (its IR), a kernel with `inputs`, a
            profile, findings, a memory report.
        checks: lines with `CHECK:`, `CHECK-NEXT:`, `CHECK-SAME:`, `CHECK-NOT:`, `CHECK-DAG:`,
            `CHECK-COUNT-3:`, `CHECK-LABEL:` or `CHECK-EMPTY:` and a pattern. `{{...}}` is a regular
            expression, `[[NAME:...]]` captures a match, and `[[NAME]]` is the captured text. Any
            text before `CHECK` (`//`, `#`) is ignored, and so are other lines.
        inputs: the arguments to trace a kernel with.
        prefix: the word instead of CHECK; several are separated by commas.
        match_full_lines: a pattern must match a whole line, except for spaces.

    Raises:
        AssertionError: a check fails. The message has the output of `filecheck`, the failed check,
            and the text around the last match.
        ValueError: `checks` has no check, or a malformed one.
        ImportError: filecheck is missing (`pip install 'nkijit[testing]'`).

    Example:

        >>> import nkijit.testing
        >>> nkijit.testing.filecheck(
        ...     "nisa.dma_copy dst=%tile, src=%x",
        ...     "// CHECK: nisa.dma_copy dst=[[TILE:%[a-z]+]]",
        ... )

    Source: LLVM's FileCheck, https://llvm.org/docs/CommandGuide/FileCheck.html, to the extent that
    the package `filecheck` implements it.
    """
    __tracebackhide__ = True
    text, name = _text_of(what, inputs)
    failure = _failure(text, name, textwrap.dedent(checks), prefix, match_full_lines)
    if failure:
        raise AssertionError(failure)


def _text_of(what: object, inputs: Inputs | None) -> tuple[str, str]:
    """Return the text to check, and its name in messages."""
    if isinstance(what, (TracedKernel, Kernel)):
        traced = traced_of(what, inputs)
        return traced.text(), f"@{traced.name}"
    if what is None or isinstance(what, bytes) or type(what).__str__ is object.__str__:
        raise TypeError(f"expected a text, a kernel, or what has a text, got {what!r}")
    return str(what), "text"


def _failure(text: str, name: str, checks: str, prefix: str, match_full_lines: bool) -> str:
    """Describe a failure in several lines; "" if all checks hold."""
    try:
        from filecheck.error import ParseError
        from filecheck.finput import FInput
        from filecheck.matcher import Matcher
        from filecheck.options import Options
        from filecheck.parser import Parser, pattern_for_opts
    except ImportError as error:
        raise ImportError(
            "nkijit.testing.filecheck needs the package filecheck: pip install 'nkijit[testing]'"
        ) from error
    options = Options(match_filename="checks", input_file=name, match_full_lines=match_full_lines)
    options.check_prefixes = prefix.split(",")

    def parser() -> Parser:
        return Parser(options, io.StringIO(checks), *pattern_for_opts(options))

    try:
        if not list(parser()):
            raise ValueError(f"there is no check with {prefix} in:\n{_indented(checks)}")
    except ParseError as error:
        marker = " " * (error.offset - 1) + "^"
        shown = f"{error.offending_line.rstrip()}\n{marker}"
        raise ValueError(
            f"checks:{error.line_no}:{error.offset}: {error.message}\n{_indented(shown)}"
        ) from None
    matcher = Matcher(options, FInput(name, FInput.canonicalize_line_ends(text)), parser())
    output = io.StringIO()
    matcher.stderr = output
    # The package writes to both streams, also warnings.
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(output):
        status = matcher.run()
    if status == 0:
        return ""
    lines = output.getvalue().rstrip().split("\n")
    shown = lines[:_MOST_OUTPUT]
    if len(lines) > len(shown):
        shown.append("…")
    at = text.count("\n", 0, min(matcher.file.range.start, len(text)))
    return "\n".join(
        [
            f"{name} does not have what the checks say",
            *(f"  {line}" for line in shown),
            "the checks:",
            _numbered(checks, _line_of(shown), 3),
            f"{name}, around where the last match ended:",
            _numbered(text, at + 1, _AROUND),
        ]
    )


_MOST_OUTPUT = 12
"""The maximum number of lines of filecheck's output, which can contain the whole text."""
_AROUND = 8


def _line_of(output: list[str]) -> int | None:
    """Return the line number of the check that failed, if the output names it."""
    for line in output:
        head, *rest = line.split(":", 2)
        if head == "checks" and rest and rest[0].isdecimal():
            return int(rest[0])
    return None


def _indented(text: str) -> str:
    return textwrap.indent(text, "  ")


def _numbered(text: str, at: int | None, around: int) -> str:
    """Return numbered lines: all lines, or the lines around line `at`, which is marked."""
    lines = text.rstrip("\n").split("\n")
    first, last = (1, len(lines)) if at is None else (max(1, at - around), at + around)
    last = min(last, len(lines))
    width = len(str(last))
    rows = [
        f"{'>' if number == at else ' '} {number:{width}} | {lines[number - 1]}".rstrip()
        for number in range(first, last + 1)
    ]
    return "\n".join(rows)
