"""Findings on a stream, in colours where it has some."""

from __future__ import annotations

from typing import IO

from rich.console import Console

from nkijit.passes.verify.diagnostics import Findings
from nkijit.passes.verify.styled import as_ansi


def tell(findings: Findings, stream: IO[str]) -> None:
    """Print findings."""
    print(as_ansi(findings.lines()) if has_colours(stream) else findings, file=stream)


def has_colours(stream: IO[str]) -> bool:
    """Whether a stream is a terminal with colours; NO_COLOR and FORCE_COLOR are respected."""
    console = Console(file=stream, force_jupyter=False)
    return console.color_system is not None and not console.no_color
