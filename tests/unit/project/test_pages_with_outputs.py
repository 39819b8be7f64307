"""Pages of docs/ show the output of their commands.

After an intended change of an output:

    .venv/bin/pytest tests/unit/project/test_pages_with_outputs.py --update-golden
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.pages import blocks, check_output
from support.paths import ROOT

PAGES = {
    page.name: page
    for page in sorted((ROOT / "docs").glob("*.md"))
    if "<!-- output: " in page.read_text(encoding="utf-8")
}
GENERATED = re.compile("<!-- (?:.*: written by|end of) ")
"""The comments around a section that another test or command writes."""
OUTPUTS = [(name, output) for name, page in PAGES.items() for output in blocks(page, "output")]


def test_the_pages_are_found() -> None:
    assert {"values.md", "sweep.md"} <= set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_every_marked_block_was_found(name: str) -> None:
    page = PAGES[name]
    text = page.read_text(encoding="utf-8")
    comments = [c for c in re.findall("<!-- .*", text) if not GENERATED.match(c)]
    assert len(comments) == len(blocks(page, "file")) + len(blocks(page, "output"))


@pytest.mark.parametrize(("name", "output"), OUTPUTS)
def test_output(name: str, output: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    files = "".join(blocks(PAGES[name], "file").values())
    for framework in ("torch", "jax"):
        if f"import {framework}\n" in files:
            pytest.importorskip(framework)
    check_output(PAGES[name], output, tmp_path, request.config.getoption("--update-golden"))
