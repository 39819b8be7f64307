"""The exception and the warning for findings, and their text in notebooks."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable
from functools import cache
from traceback import walk_tb
from types import TracebackType

from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.places import line_text, shown_path
from nkijit.passes.diagnostics.source_text import source_line
from nkijit.passes.diagnostics.styled import Line, as_ansi, as_html, as_text, line

GOES_ON = "goes on with that, as compilers do"
"""The end of hints that recommend `strict=False`, for errors that stop only strict runs."""


class NkiValidationError(Exception):
    """A kernel breaks rules of the hardware or of the documented ISA; carries all findings."""

    # Python prints this name before the message; users import the class from there.
    __module__ = "nkijit"

    may_go_on = False
    """True if a run with `strict=False` ignores all of the findings."""

    def __init__(self, diagnostics: Iterable[Diagnostic]):
        self.diagnostics = Findings(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return as_text(self._lines())

    def _repr_html_(self) -> str:
        return as_html(self._lines())

    def _lines(self) -> list[Line]:
        lines = self.diagnostics.lines()
        if self.may_go_on:
            lines.append(line(f"strict=False or NKIJIT_STRICT=0 {GOES_ON}"))
        return lines

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython prints instead of a traceback.

        These are the source lines and the findings.
        """
        lines = [*_calls(self.__traceback__), *self._lines()]
        return (as_ansi(lines) if _ipython_has_colours() else as_text(lines)).split("\n")


@cache
def finding_as(error: type[Exception]) -> type[NkiValidationError]:
    """Return the subclass of NkiValidationError that is also a subclass of `error`."""
    space = {"__module__": NkiValidationError.__module__}
    return type(f"Nki{error.__name__}", (NkiValidationError, error), space)


def stop_at_errors(found: Findings) -> None:
    """Raise NkiValidationError with all findings if one of them is an error."""
    if found.errors:
        raise NkiValidationError(found)


class NkiWarning(UserWarning):
    """A finding about a kernel that runs: the text, issued at the kernel's source line.

    Either a suspicious finding, or an error that does not stop the run: undefined
    behaviour, or tiles that are too large for the memories.
    """

    __module__ = "nkijit"


def warn_of(diagnostic: Diagnostic) -> None:
    """Issue an `NkiWarning` for a finding. Python's filters can show, ignore or raise it."""
    where = diagnostic.where[0] if diagnostic.where else None
    file, line = (diagnostic.subject, 1) if where is None else (where.file, where.line)
    if not file.startswith("<") and not source_line(file, line):
        file = f"<{file}>"  # Python would read the line from any file
    # One registry per file, as Python has one per module, so that each warning is shown once.
    registry = _shown_warnings.setdefault(file, {})
    warnings.warn_explicit(str(diagnostic), NkiWarning, file, line, registry=registry)


_shown_warnings: dict[str, dict[str | tuple[str, type[Warning], int], int]] = {}


def _calls(trace: TracebackType | None) -> list[Line]:
    """Return the frames of a traceback as lines, outermost first, without IPython and nkijit."""
    lines: list[Line] = []
    for frame, number in walk_tb(trace):
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in ("IPython", "ipykernel", _PACKAGE):
            code = frame.f_code
            lines.append(
                line(f"{line_text(shown_path(code.co_filename), number)}, in {code.co_qualname}")
            )
            source = source_line(code.co_filename, number).strip()
            lines += [line(f"    {source}")] if source else []
    return [*lines, line()] if lines else []


_PACKAGE = __name__.partition(".")[0]


def _ipython_has_colours() -> bool:
    """Whether IPython shows colours. Notebooks do, although their streams are not terminals."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "colors", "").lower() != "nocolor" and not os.environ.get("NO_COLOR")


def with_notes(error: BaseException) -> str:
    """Return an exception's message with its notes. xDSL puts ill-formed operations into notes."""
    return "\n".join([str(error), *getattr(error, "__notes__", ())])
