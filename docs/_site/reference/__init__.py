"""The reference: pages made from declarations, docstrings, commands, and tests."""

from __future__ import annotations

from collections.abc import Iterator

from docs._site.reference import api, commands, instructions, rules, textual
from docs._site.reference.violations import violations


def generated_pages() -> Iterator[tuple[str, str]]:
    """All pages of the reference, by their names."""
    found = violations()
    yield from instructions.pages(found)
    yield from rules.pages(found)
    yield from commands.pages()
    yield from textual.pages()
    yield from api.pages()
