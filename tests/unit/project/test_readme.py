"""What the README shows is what happens.

Fenced blocks behind an HTML comment are checked. `<!-- file: NAME -->` is a file of that name;
`<!-- output: NAME -->` is a command, after the `$`, and what it prints in the folder of those
files. When an output has changed on purpose:

    .venv/bin/pytest tests/unit/project/test_readme.py --update-golden
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from support.paths import ROOT

from nkijit.cli import app
from nkijit.dialects.hardware.targets import PLATFORM_NAMES, TARGETS
from nkijit.dialects.nisa import INSTRUCTIONS
from nkijit.target import TARGET_VARIABLE
from nkijit.traced import PRECISE_VARIABLE

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")

BLOCK = re.compile(r"<!-- (file|output): (\S+) -->\n```\w*\n(.*?)```\n", re.DOTALL)
FILES = {name: body for kind, name, body in BLOCK.findall(TEXT) if kind == "file"}
OUTPUTS = {name: body for kind, name, body in BLOCK.findall(TEXT) if kind == "output"}


def output_of(command: str, folder: Path) -> str:
    """What a command prints, on both streams."""
    bin_folder = str(Path(sys.executable).parent)
    environment = {
        **{k: v for k, v in os.environ.items() if k not in (TARGET_VARIABLE, PRECISE_VARIABLE)},
        "PATH": os.pathsep.join((bin_folder, os.environ["PATH"])),
    }
    finished = subprocess.run(
        shlex.split(command),
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return finished.stdout.rstrip("\n") + "\n"


def test_every_marked_block_was_found() -> None:
    assert TEXT.count("<!-- ") == len(FILES) + len(OUTPUTS)
    assert {"trace", "listing", "diagnostic"} <= set(OUTPUTS)


@pytest.mark.parametrize("name", OUTPUTS)
def test_output(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    for file, body in FILES.items():
        (tmp_path / file).write_text(body, encoding="utf-8")
    first_line, shown = OUTPUTS[name].split("\n", 1)
    assert first_line.startswith("$ ")
    printed = output_of(first_line.removeprefix("$ "), tmp_path)
    assert str(tmp_path) not in printed
    if request.config.getoption("--update-golden"):
        text = README.read_text(encoding="utf-8")
        start = text.index(f"<!-- output: {name} -->")
        begin = text.index(first_line, start) + len(first_line) + 1
        end = text.index("```", begin)
        README.write_text(text[:begin] + printed + text[end:], encoding="utf-8")
        shown = printed
    assert printed == shown


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
