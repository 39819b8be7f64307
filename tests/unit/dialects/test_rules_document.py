"""docs/rules.md equals the catalogue. `make docs`, or here `--update-golden`, writes it."""

from __future__ import annotations

import pytest
from support.paths import ROOT

from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.dialects.rule_texts.text import ErrorKind
from nkijit.reference.catalogue import rules_as_markdown

DOCUMENT = ROOT / "docs" / "rules.md"


def test_the_document_is_up_to_date(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        DOCUMENT.write_text(rules_as_markdown(), encoding="utf-8")
    assert DOCUMENT.read_text(encoding="utf-8") == rules_as_markdown(), "run `make docs`"


def test_every_rule_is_in_it() -> None:
    headings = [line for line in rules_as_markdown().splitlines() if line.startswith("### ")]
    shown = {
        ErrorKind.illegal: "",
        ErrorKind.undefined: " (undefined)",
        ErrorKind.does_not_fit: " (does not fit)",
    }
    expected = [
        f"### {rule.id}" + (f" (warning, {rule.group.value})" if rule.group else shown[rule.kind])
        for rule in RULE_TEXTS.values()
    ]
    assert sorted(headings) == sorted(expected)


def test_severities() -> None:
    assert {rule.severity for rule in RULE_TEXTS.values()} == {"error", "warning"}


def test_every_error_is_of_a_kind() -> None:
    """Illegal, undefined, or too large; warnings have no kind."""
    for rule in RULE_TEXTS.values():
        assert (rule.kind is None) == (rule.severity == "warning"), rule.id
    assert {rule.kind for rule in RULE_TEXTS.values()} == {None, *ErrorKind}
