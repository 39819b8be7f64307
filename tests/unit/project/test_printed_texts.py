"""Texts that the installed package prints: they name nothing that a wheel lacks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.paths import ROOT
from typer.testing import CliRunner

from nkijit.cli.app import COMMANDS, app, whole
from nkijit.cli.explaining import TOPICS

SOURCES = sorted(
    path
    for folder in ("nkijit", "dialects", "passes")
    for path in (ROOT / folder).rglob("*.py")
    if not path.is_relative_to(ROOT / "nkijit" / "dialects")
    and not path.is_relative_to(ROOT / "nkijit" / "passes")
)
_PAGE = re.compile(r"\bdocs/[\w/-]+\.(md|ipynb)\b|\b(README|CONTRIBUTING|CHANGELOG)\.md\b")


def _strings(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_the_pattern_finds_pages() -> None:
    assert _PAGE.search("see docs/how/tune.md for more")
    assert not _PAGE.search("writes rules.md")


def test_no_text_names_a_page_of_the_repository() -> None:
    assert len(SOURCES) > 400
    files = [*SOURCES, ROOT / "pytest_nkijit.py"]
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in files
        for line, text in _strings(path)
        if _PAGE.search(text)
    ]
    assert not found


@pytest.mark.parametrize("name", list(COMMANDS))
def test_a_help_page_shows_every_word(name: str) -> None:
    """Rich takes `[word]` for markup and does not print it."""
    command = whole(name)
    texts = [command.help or "", *(getattr(each, "help", "") or "" for each in command.params)]
    wide = {"COLUMNS": "2000", "TERMINAL_WIDTH": "2000", "NO_COLOR": "1"}
    shown = CliRunner().invoke(app, [name, "--help"], env=wide).output
    missing = [word for text in texts for word in text.split() if word not in shown]
    assert len(texts) > 1
    assert not missing


def test_the_main_help_page_shows_every_word() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "2000", "NO_COLOR": "1"}).output
    lines = [*(line for _, line in COMMANDS.values()), app.registered_callback.callback.__doc__]
    assert not [word for line in lines for word in line.split() if word not in shown]


@pytest.mark.parametrize("topic", list(TOPICS))
def test_topics_have_a_text(topic: str) -> None:
    shown = CliRunner().invoke(app, ["explain", topic])
    assert shown.exit_code == 0
    assert len(shown.output.splitlines()) > 5


def test_extras_are_quoted_for_shells() -> None:
    """In zsh, brackets without quotes are a pattern."""
    bare = re.compile(r"pip install (?:-\w+ )*nkijit\[")
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in [*SOURCES, ROOT / "pytest_nkijit.py"]
        for line, text in _strings(path)
        if bare.search(text)
    ]
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    found += [str(p.relative_to(ROOT)) for p in pages if bare.search(p.read_text(encoding="utf-8"))]
    assert not found
