"""docs/glossary.md has the terms that `nkijit explain` knows. `make docs` writes it."""

from __future__ import annotations

import re

import pytest
from support.paths import ROOT

from nkijit.reference.catalogue import explain
from nkijit.reference.glossary import glossary, glossary_as_markdown, term_of

DOCUMENT = ROOT / "docs" / "glossary.md"


def test_the_document_is_up_to_date(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        DOCUMENT.write_text(glossary_as_markdown(), encoding="utf-8")
    assert DOCUMENT.read_text(encoding="utf-8") == glossary_as_markdown(), "run `make docs`"


def test_each_term_of_the_document_is_explained() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", DOCUMENT.read_text(encoding="utf-8"), re.M)
    assert len(rows) > 40
    for key, meaning in rows[1:]:
        for term in key.split(", "):
            explained = " ".join(explain(term).split())
            assert explained.startswith(f"term {key} means {meaning}")


def test_terms_are_sorted_and_unique() -> None:
    keys = [key.lower() for key in glossary()]
    assert keys == sorted(keys)
    single = [term for key in keys for term in key.split(", ")]
    assert len(single) == len(set(single))


def test_case_and_plural_do_not_matter() -> None:
    entry = ("partition", glossary()["partition"])
    assert [term_of(word) for word in ("partition", "Partitions", "PARTITION")] == [entry] * 3
    assert term_of("busy") == ("busy, waits, idle", glossary()["busy, waits, idle"])
    assert term_of("") is None
    assert term_of("s") is None
