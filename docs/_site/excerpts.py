"""Excerpts of pages for the results of a search: the first paragraph of each section."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from docutils import nodes

LENGTH = 220
"""The largest number of characters of an excerpt."""


def write_excerpts(app: Any, failure: Exception | None) -> None:
    """Write `_static/search-texts.js`, which defines `EXCERPTS`: {page: {anchor: text}}."""
    if failure is not None or app.builder.format != "html":
        return
    pages = {
        page: excerpts(app.env.get_doctree(page))
        for page in sorted(app.env.found_docs)
        if not page.startswith("source/")
    }
    path = Path(app.outdir, "_static", "search-texts.js")
    path.write_text(f"const EXCERPTS = {json.dumps(pages)};\n", encoding="utf-8")


def excerpts(page: nodes.document) -> dict[str, str]:
    """Return the first paragraph of each section and object by anchor; "" is the page's."""
    found: dict[str, str] = {}
    for paragraph in page.findall(nodes.paragraph):
        text = textwrap.shorten(paragraph.astext(), LENGTH, placeholder=" …")
        found.setdefault("", text)
        parent = paragraph.parent
        owners = [parent]
        if parent.tagname == "desc_content":  # a function or a class: its signatures have the ids
            owners += [c for c in parent.parent.children if isinstance(c, nodes.Element)]
        for owner in owners:
            for name in owner.get("ids", ()):
                found.setdefault(name, text)
    return found
