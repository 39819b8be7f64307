"""Texts that the installed package prints: the pages, commands and options that they name exist."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT
from typer import rich_utils
from typer.testing import CliRunner

import nkijit as nki
import nkijit.classic as classic
import nkijit.classic.language as classic_nl
import nkijit.language as nl
from nkijit import collectives, isa
from nkijit.cli.app import COMMANDS, app, whole
from nkijit.cli.explaining import TOPICS
from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.reference.catalogue import COLLECTIVES, INSTRUCTIONS, explain, rules_as_markdown

SOURCES = sorted(
    path
    for folder in ("nkijit", "dialects", "passes")
    for path in (ROOT / folder).rglob("*.py")
    if not path.is_relative_to(ROOT / "nkijit" / "dialects")
    and not path.is_relative_to(ROOT / "nkijit" / "passes")
)
_PAGE = re.compile(
    r"\bdocs/\w|\[[^]]*\]\([^)]*\.md[^)]*\)|"
    r"\b(README|CONTRIBUTING|CHANGELOG|SECURITY)\b(\.md)?"
)
"""Pages of the repository without a URL."""
_EXPLAIN = re.compile(r"nkijit explain ([^\s`;,)]+)")
_COMMAND = re.compile(r"nkijit ([a-z][a-z-]*)([^`;\n]*)")
_OPTION = re.compile(r"(?<![\w-])(--?[a-z][a-z0-9-]*)")
_EXTRA = re.compile(r"nkijit\[(\w+)\]")


@dataclass(frozen=True)
class Text:
    """A string of the package. Values in an f-string are `{expression}`."""

    place: str
    text: str


def _strings(path: Path) -> Iterator[Text]:
    place = str(path.relative_to(ROOT))
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield Text(place, source)
        return
    parts: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(value) for value in node.values}
            shown = (
                str(v.value) if isinstance(v, ast.Constant) else f"{{{ast.unparse(v.value)}}}"
                for v in node.values
                if isinstance(v, (ast.Constant, ast.FormattedValue))
            )
            yield Text(f"{place}:{node.lineno}", " ".join("".join(shown).split()))
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts
        ):
            yield Text(f"{place}:{node.lineno}", node.value)


@cache
def _texts() -> list[Text]:
    assets = [p for p in (ROOT / "nkijit" / "assets").rglob("*") if p.suffix in (".js", ".html")]
    tables = [
        path
        for folder in ("nkijit/releases", "nkijit/reference", "dialects", "passes")
        for path in (ROOT / folder).rglob("*.toml")
    ]
    files = [*SOURCES, ROOT / "pytest_nkijit.py", *assets, *tables]
    return [text for path in files for text in _strings(path)]


def _helps() -> list[Text]:
    commands = {name: whole(name) for name in COMMANDS}
    return [
        Text(f"nkijit {name} --help", text)
        for name, command in commands.items()
        for text in (command.help, *(getattr(each, "help", None) for each in command.params))
        if text
    ]


def test_the_patterns_find_their_texts() -> None:
    assert _PAGE.search("see docs/how/tune.md for more")
    assert _PAGE.search("see [checks](checks.md)")
    assert not _PAGE.search("writes rules.md")
    assert _EXPLAIN.findall("`nkijit explain nl.load` and nkijit explain {self.name}; x") == [
        "nl.load",
        "{self.name}",
    ]
    assert _COMMAND.search("run `nkijit verify -x --fix` now").groups() == ("verify", " -x --fix")
    assert _OPTION.findall(" -x --fix a-b") == ["-x", "--fix"]


def test_no_text_names_a_page_of_the_repository() -> None:
    assert len(SOURCES) > 400
    printed = [*_helps(), Text("nkijit explain --markdown", rules_as_markdown())]
    found = [e.place for e in [*_texts(), *printed] if _PAGE.search(_URL.sub("", e.text))]
    found += [each.place for each in printed if "`make " in each.text]
    assert not found


_URL = re.compile(r"https?://\S+")
_COMPUTED = {
    "{self.rule.id}": list(RULE_TEXTS),
    "${finding.rule}": list(RULE_TEXTS),  # of the report's page
    "{call}": [op.name for op in (*INSTRUCTIONS, *COLLECTIVES)],
    "{self.subject}": [
        f"{short}.{name}"
        for short, module in (("nl", nl), ("nisa", isa), ("ncc", collectives))
        for name in module.__all__
        if inspect.isfunction(getattr(module, name))
    ],
}
"""Names that are computed, after `nkijit explain`, with all values that they can have.

`test_only_functions_with_a_page_are_explained` checks that the last one has no others.
"""
_PLACEHOLDERS = ("RULE", "NAME", "TERM", "nisa.X")


def test_explained_names_have_a_page() -> None:
    found = {(n, e.place) for e in [*_texts(), *_helps()] for n in _EXPLAIN.findall(e.text)}
    named = {name for name, _ in found}
    assert set(_COMPUTED) <= named
    assert "arguments" in named
    missing: list[tuple[str, str]] = []
    for written, place in sorted(found):
        for name in _COMPUTED.get(written, [written]):
            is_page = name in TOPICS or name in _PLACEHOLDERS or name.startswith("--")
            try:
                assert is_page or explain(name)
            except KeyError:
                missing.append((name, place))
    assert not missing


def test_named_commands_options_and_extras_exist() -> None:
    options = {
        name: {o for p in whole(name).params for o in (*p.opts, *p.secondary_opts)}
        for name in COMMANDS
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wrong: list[tuple[str, str]] = []
    count = 0
    for each in [*_texts(), *_helps()]:
        extras = set(_EXTRA.findall(each.text)) - set(project["optional-dependencies"])
        wrong += [(each.place, extra) for extra in extras]
        for match in _COMMAND.finditer(each.text):
            command, rest = match.groups()
            is_quoted = each.text[match.start() - 1 : match.start()] == "`"
            if command not in COMMANDS:
                # Otherwise the word continues a sentence: "nkijit finds".
                wrong += [(each.place, match[0])] if is_quoted else []
                continue
            count += 1
            known = {*options[command], "--help", "-h"}
            wrong += [(each.place, o) for o in _OPTION.findall(rest) if o not in known]
    assert count > 50
    assert not wrong


def test_only_functions_with_a_page_are_explained() -> None:
    """The command describes functions of the current API, but no methods."""

    @nki.jit
    def function(x: Any) -> None:
        nl.load(x, None, None, None)  # pyright: ignore[reportCallIssue]

    @nki.jit
    def method(x: Any) -> None:
        tile = nl.load(x)
        tile.expand_dim(1, 2, 3)  # pyright: ignore[reportCallIssue]

    @classic.jit
    def of_classic(x: Any) -> None:
        classic_nl.load(x, 1, 2, 3, 4)  # pyright: ignore[reportCallIssue]

    helps: list[str] = []
    for kernel in (function, method, of_classic):
        with pytest.raises(nki.NkiValidationError) as raised:
            kernel.trace(nki.TensorSpec((4, 8), "float32"))
        helps.append(raised.value.diagnostics[0].help)
    assert helps == [
        "pass each once, by name; nkijit explain nl.load describes them",
        "pass each once, by name",
        "pass each once, by name",
    ]


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


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_paragraphs_of_help_pages_are_filled(
    name: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of a paragraph ends where the first word of the next line does not fit."""
    words = [name, "--help"] if name else ["--help"]
    # Typer reads the width from the environment once.
    monkeypatch.setattr(rich_utils, "MAX_WIDTH", width)
    page = CliRunner().invoke(app, words, env={"NO_COLOR": "1"}).output
    assert max(map(len, page.splitlines())) == width
    shown = page.partition("╭")[0]
    lines = [line.rstrip() for line in shown.splitlines()]
    short = [
        (line, after)
        for line, after in pairwise(lines)
        if line and after and not after.startswith("  ")
        # One column on each side is blank.
        if len(line) + 1 + len(after.split()[0]) <= width - 1
    ]
    assert len(lines) > 2
    assert not short


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
        each.place
        for path in [*SOURCES, ROOT / "pytest_nkijit.py"]
        for each in _strings(path)
        if bare.search(each.text)
    ]
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    found += [str(p.relative_to(ROOT)) for p in pages if bare.search(p.read_text(encoding="utf-8"))]
    assert not found
