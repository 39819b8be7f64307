"""Checks of a file's text that do not execute it."""

from __future__ import annotations

import ast
import re

from nkijit.discovery.python_files import defines_kernels, imports_nki
from nkijit.lsp.facts import Problem
from nkijit.passes.diagnostics.places import Position, Span
from nkijit.passes.diagnostics.source_text import lines_of


def syntax_problem(path: str, text: str) -> Problem | None:
    """Return the problem of a text that Python cannot parse, None if it can."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        return of_syntax_error(path, error, text)
    except (ValueError, RecursionError) as error:
        return Problem(Span(Position(path, 1, 1), 1, 2), "error", str(error))
    return None


_ABOUT_KERNELS = re.compile(r"\bnki|neuronxcc")


def is_about_kernels(text: str) -> bool:
    """Whether a text defines kernels. A text with syntax errors is searched for `nki` and `@`."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return _ABOUT_KERNELS.search(text) is not None and "@" in text
    return defines_kernels(module) and imports_nki(module)


def of_syntax_error(path: str, error: SyntaxError, text: str) -> Problem:
    """Convert a syntax error to a problem at the place that Python reports."""
    lines = lines_of(text)
    line = min(error.lineno or 1, max(len(lines), 1))
    width = len(lines[line - 1]) if lines else 0
    column = min(max(error.offset or 1, 1), width + 1)
    end_line, end = error.end_lineno or line, error.end_offset or 0
    if (end_line, end) <= (line, column):
        end_line, end = line, column + 1
    return Problem(Span(Position(path, line, column), end_line, end), "error", str(error.msg))
