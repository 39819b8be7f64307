"""The display of a trace in a notebook: its headline, its findings, and its IR, folded."""

from __future__ import annotations

from nkijit.dialects.spelling import counted
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.shown import html_of_text
from nkijit.passes.diagnostics.styled import as_html


def html_of_trace(headline: str, found: Findings, ir: str) -> str:
    """Return a traced kernel as HTML for the cell of a notebook.

    Args:
        headline: the kernel's name, target and types, on one line.
        found: the kernel's findings.
        ir: the kernel's IR as text; it is shown folded.
    """
    lines = ir.count("\n")
    return (
        f"{html_of_text(headline)}{as_html(found.lines())}"
        f"<details><summary>IR, {counted(lines, 'line')}</summary>{html_of_text(ir)}</details>"
    )
