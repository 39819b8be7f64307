"""The kernels of rules: the wrong one has the finding that is shown, the right one has none."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.paths import ROOT

from nkijit.cli.fixing import Found
from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.discovery.python_files import run_text
from nkijit.discovery.selection import chosen_of
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.reference.catalogue import explain, rule_as_markdown
from nkijit.reference.pairs import Pair, pair_of, rules_with_pair, source_release

FOLDER = ROOT / "nkijit" / "assets" / "rules"

WITHOUT = Path(__file__).with_name("rules_without_pair.txt")
"""Rules without a pair, with the reason: the list must only shrink."""


def _pair(rule: str) -> Pair:
    pair = pair_of(rule)
    assert pair is not None
    return pair


def _findings(rule: str, name: str) -> Found:
    file = f"{rule}.py"
    (chosen,) = chosen_of(run_text(_pair(rule).source, file), file, name)
    arguments, release = chosen.checked(), source_release(rule)
    try:
        found = [*chosen.kernel.trace(**arguments).diagnostics]
    except NkiValidationError as error:
        found = [*error.diagnostics]
    if release is not None:
        found += chosen.kernel.portability(nki=release.version, **arguments)
    return [(d.rule.id, d) for d in found]


@pytest.mark.parametrize("rule", rules_with_pair())
def test_the_wrong_kernel_has_the_finding(rule: str, pytestconfig: pytest.Config) -> None:
    found = [str(d) for id, d in _findings(rule, "wrong") if id == rule]
    assert found
    text = found[0].rpartition("   = more:")[0]
    if pytestconfig.getoption("--update-golden"):
        quoted = f'FINDING = r"""\n{text}"""\n'
        (FOLDER / f"{rule}.py").write_text(f"{_pair(rule).source}\n\n{quoted}", encoding="utf-8")
    assert _pair(rule).finding == text


@pytest.mark.parametrize("rule", rules_with_pair())
def test_the_right_kernel_has_no_findings(rule: str) -> None:
    assert _findings(rule, "right") == []


def test_every_rule_has_a_pair_or_a_reason() -> None:
    lines = WITHOUT.read_text(encoding="utf-8").splitlines()
    reasons = dict(line.split(": ", 1) for line in lines)
    assert len(reasons) == len(lines)
    assert set(rules_with_pair()) | set(reasons) == set(RULE_TEXTS)
    assert not set(rules_with_pair()) & set(reasons)
    assert all(reason.strip() for reason in reasons.values())


@pytest.mark.parametrize("rule", rules_with_pair())
def test_explanations_show_the_pair(rule: str) -> None:
    pair = _pair(rule)
    for shown in (explain(rule), rule_as_markdown(rule)):
        for text in (pair.wrong, pair.finding, pair.right):
            assert all(line.strip() in shown for line in text.splitlines())


def test_explanations_name_the_command_of_source_rules() -> None:
    assert "\nnkijit verify --portable --nki 0.6:\n" in explain("portable-identity")
    assert "`nkijit verify --portable --nki 0.6` reports:" in rule_as_markdown("portable-identity")
    assert "\nnkijit verify --portable:\n" in explain("portable-loop")
    assert "\nnkijit verify:\n" in explain("portable-field")
