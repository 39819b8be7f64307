"""Findings for the exceptions that end a trace."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from nkijit.dialects.rule_texts.access import LOOP_LEFT
from nkijit.dialects.rule_texts.operands import UNSUPPORTED
from nkijit.dialects.rule_texts.python import PYTHON_ERROR
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.places import Position
from nkijit.tracing import call_arguments, python_errors, unknown_names
from nkijit.tracing.api_names import ApiName, api_module_of
from nkijit.tracing.dtype_names import CLASSIC, CURRENT
from nkijit.tracing.mixed_apis import mixed_apis, other_api_called
from nkijit.tracing.tracebacks import Raised, entries_of, is_defect, marked_in, places_of


def finding_of(
    error: Exception, function: Callable[..., Any], generation: str
) -> Diagnostic | None:
    """Return the finding for an exception that ended a trace.

    Must be called where nkijit catches the exception. Returns None for defects of nkijit, and if
    the process is out of memory.

    Args:
        error: the exception.
        function: the kernel's function.
        generation: the package of the API that the kernel is written for.
    """
    raised = Raised.of(error)
    is_own = raised.by_nkijit and is_defect(error) and not isinstance(error, RecursionError)
    if is_own or not raised.entries or isinstance(error, MemoryError):
        return None
    functions = vars(import_module(f"{generation}.language"))
    return (
        _of_the_other_api(error, raised, generation)
        or python_errors.finding_of(error, raised, functions, writes=generation == CURRENT)
        or call_arguments.finding_of(error, raised)
        or unknown_names.finding_of(error, raised, generation)
        or _of_exception(error, raised, function)
    )


def _of_the_other_api(error: Exception, raised: Raised, generation: str) -> Diagnostic | None:
    """Return the finding for an exception at a name of the other API; None for other exceptions."""
    name = other_api_called(raised.node, raised.frame, classic=generation == CLASSIC)
    module = api_module_of(error.obj) if isinstance(error, AttributeError) else None
    if module is not None and module[0] != generation and isinstance(error, AttributeError):
        missing = ApiName(*module, error.name or "")
        name = None if missing.other.value is None else missing
    return None if name is None else mixed_apis(name, raised.where)


def _of_exception(error: Exception, raised: Raised, function: Callable[..., Any]) -> Diagnostic:
    """Return the finding for an exception of the user's code, at its line in the kernel."""
    entries = raised.entries
    code = getattr(function, "__code__", None)
    own = (i for i, entry in enumerate(entries) if entry.tb_frame.f_code is code)
    at = next(own, len(entries) - 1)
    if raised.by_nkijit and isinstance(error, NotImplementedError):
        node = raised.node
        called = node.func if isinstance(node, ast.Call) else node
        subject = "the kernel" if called is None else ast.unparse(called)
        return Diagnostic(UNSUPPORTED, str(error), subject, raised.where, marked=raised.marked)
    message, *rest = _lines_of(error, raised)
    cause = error.__cause__
    if cause is not None:
        rest.append(f"caused by {_named(cause)}: {cause}")
    places = [place for entry in entries[:at] for place in places_of(entry)]
    inner = list(dict.fromkeys(reversed(places)))[-_MOST_PLACES:]
    labels = [*["called"] * (_MOST_PLACES - 1), "raised here"]
    return Diagnostic(
        PYTHON_ERROR,
        message,
        _named(error),
        tuple(dict.fromkeys(place for entry in entries[at:] for place in places_of(entry))),
        tuple(rest),
        related=tuple(zip(inner, labels[-len(inner) :], strict=False)),
        marked=marked_in(entries[at]),
    )


_MOST_PLACES = 3
"""The maximum number of lines of helpers that a finding shows, from the innermost line on."""


def _named(error: BaseException) -> str:
    return type(error).__qualname__


def _lines_of(error: BaseException, raised: Raised) -> list[str]:
    """Return the text of an exception with its notes, in lines that are not empty."""
    text = "\n".join([str(error), *getattr(error, "__notes__", ())])
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines:
        return lines
    node = raised.node.test if isinstance(raised.node, ast.Assert) else raised.node
    if isinstance(error, AssertionError) and isinstance(node, ast.expr):
        return [f"{ast.unparse(node)} is false"]
    return ["it is raised without a text"]


def without_consequences(found: Iterable[Diagnostic], error: BaseException) -> list[Diagnostic]:
    """Return the findings of a trace, without consequences of the exception that ended it.

    These are findings about leaving the body of a device loop at a line of the traceback.
    """
    lines: set[Position] = {place for entry in entries_of(error) for place in places_of(entry)}
    return [
        finding
        for finding in found
        if finding.rule is not LOOP_LEFT or not lines.intersection(finding.where[:1])
    ]
