"""docs/testing.md, followed from an empty folder: its files are written, its commands run in order.

Each command prints the lines that the page shows below it, in this order, possibly with others
between them. Pytest's durations are not compared. Commands that install packages are skipped: the
environment of the tests has the packages.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
PART = re.compile(
    r"<!-- file: (?P<file>\S+) -->\n```\w*\n(?P<text>.*?)```\n"
    r"|(?P<fails><!-- fails -->\n)?```console\n(?P<console>.*?)```\n",
    re.S,
)
INSTALLS = re.compile(r"pip install|venv")


def run(command: str, folder: Path) -> tuple[int, str]:
    """Exit status and output of a command, with the tools of this environment and none else."""
    scripts = str(Path(sys.executable).parent)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "NKI", "NEURON_"))}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**kept, "PATH": os.pathsep.join((scripts, "/usr/bin", "/bin")), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    return done.returncode, done.stdout


def compared(line: str) -> str:
    """Return a line without the parts that differ between runs."""
    return re.sub(r"( in [\d.]+s|\s+\[100%\])$", "", " ".join(line.split()))


@pytest.mark.slow
def test_the_page_works_from_an_empty_folder(tmp_path: Path):
    commands = 0
    for part in PART.finditer(PAGE):
        if part["file"]:
            path = tmp_path / part["file"]
            path.parent.mkdir(exist_ok=True)
            path.write_text(part["text"], encoding="utf-8")
            continue
        for block in re.split(r"^\$ ", part["console"], flags=re.M)[1:]:
            command, *shown = block.rstrip("\n").split("\n")
            if INSTALLS.search(command):
                continue
            commands += 1
            status, printed = run(command, tmp_path)
            assert (status == 0) is not bool(part["fails"]), printed
            lines = iter(map(compared, printed.split("\n")))
            for line in map(compared, shown):
                assert any(line in one for one in lines), f"{command}: {line!r} in\n{printed}"
    assert commands == 7


def test_names_on_the_page_exist():
    import nkijit.testing
    import pytest_nkijit

    for name in nkijit.testing.__all__:
        assert f"`{name}(" in PAGE
    source = Path(pytest_nkijit.__file__).read_text(encoding="utf-8")
    for option in re.findall(r'"(--nki-[a-z-]+)"', source):
        assert option in PAGE
    for fixture in re.findall(r"@pytest.fixture\ndef (\w+)", source):
        assert f"`{fixture}" in PAGE
