"""What a cell of a notebook shows of a trace: what it is, its findings, and its IR to unfold."""

from __future__ import annotations

import html

from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.shown import html_of_text
from nkijit.passes.diagnostics.styled import as_html


def html_of_trace(headline: str, found: Findings, ir: str) -> str:
    """A traced kernel in a notebook.

    Args:
        headline: its name, target and types.
        found: what is said of it.
        ir: its text, which is folded.
    """
    lines = ir.count("\n")
    return (
        f"<div><code>{html.escape(headline)}</code></div>{as_html(found.lines())}"
        f"<details><summary>IR, {lines:,} lines</summary>{html_of_text(ir)}</details>"
    )
