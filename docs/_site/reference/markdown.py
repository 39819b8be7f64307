"""Pieces of Markdown, in MyST's dialect of it."""

from __future__ import annotations

from collections.abc import Iterable


def fenced(text: str, language: str = "text") -> str:
    """Text as it is, in a fence that it cannot end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def folded(title: str, body: str) -> str:
    """A body that is shown when its title is clicked."""
    return f"::::{{dropdown}} {title}\n{body}\n::::"


def contents(pages: Iterable[str], *, hidden: bool = True) -> str:
    """A table of contents of further pages."""
    names = "\n".join(pages)
    return f"```{{toctree}}\n{':hidden:' if hidden else ':maxdepth: 1'}\n\n{names}\n```"


def page(*parts: str) -> str:
    """A page of its paragraphs."""
    return "\n\n".join(part for part in parts if part) + "\n"
