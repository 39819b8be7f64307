"""Text with styles, for plain text, terminals and HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable
from enum import Enum


class Style(Enum):
    """The styles of text: SGR codes for terminals (ECMA-48), and CSS.

    The HTML colours are legible on light and dark pages.
    """

    plain = ("", "")
    error = ("1;31", "color:#d9534f;font-weight:bold")
    warning = ("1;33", "color:#b8860b;font-weight:bold")
    strong = ("1", "font-weight:bold")
    frame = ("1;34", "color:#4a8ad4;font-weight:bold")
    help = ("1;36", "color:#1a9a9a;font-weight:bold")

    def __init__(self, codes: str, css: str):
        self.codes = codes
        self.css = css


Line = tuple[tuple[str, Style], ...]
"""A line of text: its parts from left to right, each with a style."""


_CONTROLS = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0)} - {0x09, 0x0A}, "\ufffd")


def printable(text: str) -> str:
    """Replace control characters, which terminals would execute."""
    return text if text.isprintable() else text.translate(_CONTROLS)


def line(*parts: str | tuple[str, Style]) -> Line:
    """Create a line of printable text. Parts without a style are plain."""
    pairs = ((part, Style.plain) if isinstance(part, str) else part for part in parts)
    return tuple((printable(text), style) for text, style in pairs)


def as_text(lines: Iterable[Line]) -> str:
    """Return lines as plain text."""
    return "\n".join("".join(text for text, _ in parts) for parts in lines)


def as_ansi(lines: Iterable[Line]) -> str:
    """Return lines with terminal escape sequences, in the eight standard colours."""
    return "\n".join("".join(_ansi(*part) for part in parts) for parts in lines)


def _ansi(text: str, style: Style) -> str:
    return f"\x1b[{style.codes}m{text}\x1b[0m" if style.codes else text


_MONOSPACED = "font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"
"""The font of texts in notebooks, some of whose templates have no monospaced `<pre>`."""


def as_html(lines: Iterable[Line]) -> str:
    """Return lines as one self-contained `<pre>` element."""
    text = "\n".join("".join(_html(*part) for part in parts) for parts in lines)
    # Wrapped lines would separate the markers from the marked text.
    return f'<pre style="{_MONOSPACED};white-space:pre;overflow-x:auto">{text}</pre>'


def _html(text: str, style: Style) -> str:
    escaped = html.escape(text)
    return f'<span style="{style.css}">{escaped}</span>' if style.css else escaped
