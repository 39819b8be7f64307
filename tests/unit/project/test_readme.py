"""The README's outputs are real.

Fenced blocks after an HTML comment are checked; `support/pages.py` describes them. After an
intended change of an output:

    .venv/bin/pytest tests/unit/project/test_readme.py --update-golden
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import typer
from support.pages import blocks, check_output
from support.paths import ROOT

from nkijit.cli import app
from nkijit.dialects.hardware.targets import PLATFORM_NAMES, TARGETS
from nkijit.dialects.nisa import INSTRUCTIONS
from nkijit.traced.runs import PRECISE_VARIABLE
from nkijit.tracing.target import TARGET_VARIABLE

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")

FILES, OUTPUTS = blocks(README, "file"), blocks(README, "output")


def test_every_marked_block_was_found() -> None:
    assert TEXT.count("<!-- ") == len(FILES) + len(OUTPUTS)
    assert {"findings", "trace", "listing", "report"} <= set(OUTPUTS)


def test_outputs_one_after_the_other(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """In the order of the page: a command finds the files of earlier ones."""
    update = request.config.getoption("--update-golden")
    for number, name in enumerate(OUTPUTS):
        check_output(README, name, tmp_path, update, with_files=number == 0)
    assert (tmp_path / "kernel.html").exists()


def test_the_file_can_be_pasted(tmp_path: Path) -> None:
    for name, text in FILES.items():
        block = re.search(rf"```sh\n(cat > {name} .*?)```\n", TEXT, re.DOTALL)
        assert block is not None
        subprocess.run(["sh", "-c", block[1]], cwd=tmp_path, check=True)
        assert (tmp_path / name).read_text(encoding="utf-8") == text


def section(page: str, title: str) -> str:
    """The text of a section of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return text.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_instructions() -> None:
    modelled = (ROOT / "docs" / "modelled.md").read_text(encoding="utf-8")
    assert f"the {len(INSTRUCTIONS)} instructions of `nki.isa`" in modelled
    compared = (ROOT / "docs" / "compared.md").read_text(encoding="utf-8")
    assert f"| `nki.isa` | {len(INSTRUCTIONS)} instructions |" in compared


def test_commands() -> None:
    shown = set(re.findall(r"`nkijit ([\w-]+)", section("command-line.md", "Commands")))
    commands = typer.main.get_command(app)
    assert isinstance(commands, typer.core.TyperGroup)
    assert shown == set(commands.commands)
    assert set(re.findall(r"`nkijit ([\w-]+)", TEXT)) <= shown


def test_targets() -> None:
    text = section("command-line.md", "Targets and environment variables")
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
    for picture in re.findall(r'src(?:set)?="([^"]+)"', TEXT):
        assert (ROOT / picture).exists(), picture
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake ([\w-]+)", re.sub(r"makes? a ", "", TEXT)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
