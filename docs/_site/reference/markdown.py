"""Elements of MyST Markdown."""

from __future__ import annotations

from collections.abc import Iterable


def fenced(text: str, language: str = "text") -> str:
    """Return text in a fence that is longer than any in the text."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def folded(title: str, body: str) -> str:
    """Return a body that is shown when its title is clicked."""
    return f"::::{{dropdown}} {title}\n{body}\n::::"


def contents(pages: Iterable[str], *, hidden: bool = True) -> str:
    """Return a table of contents with further pages."""
    names = "\n".join(pages)
    return f"```{{toctree}}\n{':hidden:' if hidden else ':maxdepth: 1'}\n\n{names}\n```"


def page(*parts: str) -> str:
    """Join paragraphs to a page."""
    return "\n\n".join(part for part in parts if part) + "\n"
