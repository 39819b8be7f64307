"""The reference: pages generated from declarations, docstrings, commands and tests."""

from __future__ import annotations

from collections.abc import Iterator

from docs._site.reference import api, commands, grammar, instructions, rules, targets, textual
from docs._site.reference.violations import violations


def generated_pages() -> Iterator[tuple[str, str]]:
    """Yield the name and text of all pages of the reference."""
    found = violations()
    yield from instructions.pages(found)
    yield from rules.pages(found)
    yield from commands.pages()
    yield from textual.pages()
    yield from grammar.pages()
    yield from targets.pages()
    yield from api.pages()
