"""nkijit's own JSON document of findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.places import Position, Span, shown_path

JSON_SCHEMA = 1
"""The version of the JSON document. It is incremented for changes that would mislead older readers.
"""


@dataclass(frozen=True, slots=True)
class KernelFindings:
    """The findings of one kernel. Without a target, only the kernel's Python was checked."""

    name: str
    target: str | None
    findings: Findings


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception or an unreadable file, because of which a kernel was not checked."""

    message: str
    where: tuple[Position, ...] = ()
    """The source lines of the failure, innermost call first."""


def as_json(kernels: Sequence[KernelFindings], failure: Failure | None, version: str) -> Any:
    """Return the document of `nkijit verify --json`."""
    found = [d for kernel in kernels for d in kernel.findings]
    errors = sum(d.severity == "error" for d in found)
    return {
        "schema": JSON_SCHEMA,
        "tool": {"name": "nkijit", "version": version},
        "kernels": [
            {"kernel": k.name, "target": k.target, "findings": [_finding(d) for d in k.findings]}
            for k in kernels
        ],
        "failure": failure and {"message": failure.message, "positions": _positions(failure.where)},
        "errors": errors,
        "warnings": len(found) - errors,
    }


def _finding(diagnostic: Diagnostic) -> Any:
    return {
        "rule": diagnostic.rule.id,
        "category": diagnostic.rule.category,
        "severity": diagnostic.severity,
        "kind": diagnostic.kind and diagnostic.kind.value,
        "group": diagnostic.group and diagnostic.group.value,
        "subject": diagnostic.subject,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "positions": _positions(diagnostic.where),
        "marked": [_span(span) for span in diagnostic.marked],
        "fix": diagnostic.fix and {**_span(diagnostic.fix.span), "text": diagnostic.fix.new},
        "related": [
            {"position": _position(place), "message": label} for place, label in diagnostic.related
        ],
        "operands": [
            {
                "name": operand.name,
                "value": operand.value,
                "description": operand.description,
                "allocated": operand.allocated and _position(operand.allocated),
            }
            for operand in diagnostic.operands
        ],
        "notes": list(diagnostic.notes),
        "ir": diagnostic.ir or None,
    }


def _span(span: Span) -> Any:
    return {**_position(span.start), "end_line": span.end_line, "end_column": span.end_column}


def _positions(places: Iterable[Position]) -> list[Any]:
    return [_position(place) for place in places]


def _position(place: Position) -> Any:
    return {"file": shown_path(place.file), "line": place.line, "column": place.column}
