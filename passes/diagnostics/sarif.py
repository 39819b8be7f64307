"""Findings as a SARIF 2.1.0 document.

SARIF is the OASIS standard "Static Analysis Results Interchange Format", which code hosts and
editors read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.documents import Failure, KernelFindings
from nkijit.passes.diagnostics.places import Position, Span, shown_path

_SARIF_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def as_sarif(kernels: Sequence[KernelFindings], failure: Failure | None, version: str) -> Any:
    """Return the document of `nkijit verify --sarif`: one run, with all rules."""
    indices = {id: index for index, id in enumerate(RULE_TEXTS)}
    invocation: dict[str, Any] = {"executionSuccessful": failure is None}
    if failure is not None:
        invocation["toolExecutionNotifications"] = [
            {
                "level": "error",
                "message": {"text": failure.message},
                "locations": [_location(place) for place in failure.where[:1]],
            }
        ]
    run = {
        "tool": {
            "driver": {
                "name": "nkijit",
                "version": version,
                "rules": [_sarif_rule(rule) for rule in RULE_TEXTS.values()],
            }
        },
        "invocations": [invocation],
        "originalUriBaseIds": {_BASE: {"uri": f"{Path.cwd().as_uri()}/"}},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(d, kernel, indices[d.rule.id]) for kernel in kernels for d in kernel.findings
        ],
    }
    return {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


_BASE = "%SRCROOT%"


def _sarif_rule(rule: RuleText) -> Any:
    label = rule.kind or rule.group
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.sentence},
        "help": {"text": f"{rule.help}\n\nSource: {rule.source}"},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": [rule.category, *([label.value] if label else [])]},
    }


def _result(diagnostic: Diagnostic, kernel: KernelFindings, index: int) -> Any:
    text = "\n".join(
        [
            f"{diagnostic.subject}: {diagnostic.message}",
            *map(str, diagnostic.operands),
            *diagnostic.notes,
            f"help: {diagnostic.help}",
        ]
    )
    further = [
        *((place, "called from here") for place in diagnostic.where[1:]),
        *diagnostic.related,
        *((o.allocated, f"{o.name} is allocated here") for o in diagnostic.operands if o.allocated),
    ]
    result: dict[str, Any] = {
        "ruleId": diagnostic.rule.id,
        "ruleIndex": index,
        "level": diagnostic.severity,
        "message": {"text": text},
        "locations": [_marked(span) for span in diagnostic.marked[:1]]
        or [_location(place) for place in diagnostic.where[:1]]
        or [{"logicalLocations": [{"name": kernel.name, "kind": "function"}]}],
    }
    if further:
        result["relatedLocations"] = [
            {"id": number, **_location(place), "message": {"text": label}}
            for number, (place, label) in enumerate(further)
        ]
    if diagnostic.fix is not None:
        place = _marked(diagnostic.fix.span)["physicalLocation"]
        replacement = {
            "deletedRegion": place["region"],
            "insertedContent": {"text": diagnostic.fix.new},
        }
        change = {
            "artifactLocation": place["artifactLocation"],
            "replacements": [replacement],
        }
        title = {"text": f"Replace {diagnostic.fix.old} by {diagnostic.fix.new}"}
        result["fixes"] = [{"description": title, "artifactChanges": [change]}]
    return result


def _location(place: Position) -> Any:
    artifact = _artifact(place.file)
    if place.line < 1:
        return {"physicalLocation": {"artifactLocation": artifact}}
    end = place.column + place.width
    region = {"startLine": place.line, "startColumn": place.column, "endColumn": end}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def _marked(span: Span) -> Any:
    region = {
        "startLine": span.start.line,
        "startColumn": span.start.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    artifact = _artifact(span.start.file)
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def _artifact(file: str) -> Any:
    path = shown_path(file)
    if os.path.isabs(path):
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(os.fsencode(path.replace(os.sep, "/"))), "uriBaseId": _BASE}
