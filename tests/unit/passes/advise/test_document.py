"""docs/advice.md has the table of the kinds of advice; `make docs` writes it."""

from __future__ import annotations

import re

import pytest
from support.paths import ROOT

from nkijit.passes.advise.advice import kinds_as_markdown
from nkijit.passes.advise.kinds import KINDS

DOCUMENT = ROOT / "docs" / "advice.md"
SECTION = re.compile(
    r"(?<=<!-- kinds: written by make docs -->\n).*(?=<!-- end of kinds -->)", re.S
)


def test_the_document_is_up_to_date(request: pytest.FixtureRequest) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    if request.config.getoption("--update-golden"):
        text = SECTION.sub(lambda _: kinds_as_markdown(), text)
        DOCUMENT.write_text(text, encoding="utf-8")
    found = SECTION.search(text)
    assert found is not None
    assert found[0] == kinds_as_markdown(), "run `make docs`"


def test_every_kind_is_in_it() -> None:
    headings = [line for line in kinds_as_markdown().splitlines() if line.startswith("### ")]
    assert headings == [f"### {id}" for id in KINDS]
