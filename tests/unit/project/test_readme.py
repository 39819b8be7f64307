"""What the README shows is what happens.

Fenced blocks behind an HTML comment are checked. `<!-- file: NAME -->` is a file of that name;
`<!-- output: NAME -->` is a command, after the `$`, and what it prints in the folder of those
files. When an output has changed on purpose:

    .venv/bin/pytest tests/unit/project/test_readme.py --update-golden
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from support.pages import blocks, check_output, output_of
from support.paths import ROOT

from nkijit.cli import app
from nkijit.dialects.hardware.targets import PLATFORM_NAMES, TARGETS
from nkijit.dialects.nisa import INSTRUCTIONS
from nkijit.runs import PRECISE_VARIABLE
from nkijit.target import TARGET_VARIABLE

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")

FILES, OUTPUTS = blocks(README, "file"), blocks(README, "output")


def test_every_marked_block_was_found() -> None:
    assert TEXT.count("<!-- ") == len(FILES) + len(OUTPUTS)
    assert {"trace", "listing", "diagnostic"} <= set(OUTPUTS)


@pytest.mark.parametrize("name", OUTPUTS)
def test_output(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    check_output(README, name, tmp_path, request.config.getoption("--update-golden"))


def test_the_tests_pass(tmp_path: Path) -> None:
    for file in ("kernel.py", "test_kernel.py"):
        (tmp_path / file).write_text(FILES[file], encoding="utf-8")
    assert "2 passed" in output_of("pytest -q", tmp_path)


def section(title: str) -> str:
    """The text of a section."""
    return TEXT.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_instructions() -> None:
    assert f"the {len(INSTRUCTIONS)} instructions of `nki.isa`" in section("What is modelled")
    assert f"| `nki.isa` | {len(INSTRUCTIONS)} instructions |" in TEXT


def test_commands() -> None:
    shown = set(re.findall(r"`nkijit ([\w-]+)", section("From the command line")))
    commands = typer.main.get_command(app)
    assert isinstance(commands, typer.core.TyperGroup)
    assert shown == set(commands.commands)


def test_targets() -> None:
    text = section("Targets and environment variables")
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| v(\d) \|$", text, re.MULTILINE)
    shown = {
        name: int(version)
        for first, others, version in rows
        for name in (first, *re.findall(r"`(\w+)`", others))
    }
    assert shown == {name: version.value for name, version in PLATFORM_NAMES.items()}
    assert [first for first, _, _ in rows] == [target.platform for target in TARGETS.values()]
    assert f"`{TARGET_VARIABLE}`" in text
    assert f"`{PRECISE_VARIABLE}=0`" in text


def test_links_and_make_targets_exist() -> None:
    for link in re.findall(r"\]\((?!https?:)([^)]+)\)", TEXT):
        assert (ROOT / link).exists(), link
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake ([\w-]+)", re.sub(r"makes? a ", "", TEXT)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
