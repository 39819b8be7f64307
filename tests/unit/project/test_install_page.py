"""docs/install.md lists the dependencies in pyproject.toml, and the duration of an import holds."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest
from support.paths import ROOT

PAGE = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NUMBERS = ("One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def names(requirements: list[str]) -> list[str]:
    return [re.split(r"[\[<>=~! ]", each)[0] for each in requirements]


def test_each_dependency_has_its_reason():
    found = rows("Dependencies")
    assert [name.strip("`") for name, _ in found] == names(PROJECT["dependencies"])
    assert all(len(why) > 10 for _, why in found)
    assert f"depends on {NUMBERS[len(found) - 1].lower()} packages" in PAGE


def test_each_extra_has_its_line():
    found = {extra.strip("`"): brings for extra, brings, _ in rows("Extras")}
    extras = PROJECT["optional-dependencies"]
    assert found.keys() == extras.keys() - {"site"}  # of developers, as `dev`
    for extra, brings in found.items():
        if extra != "dev":
            assert re.findall(r"`(.+?)`", brings) == names(extras[extra])


def test_the_versions_of_python():
    classifiers = PROJECT["classifiers"]
    versions = [each.rpartition(" ")[2] for each in classifiers if re.search(r":: 3\.\d+$", each)]
    assert f"Python {versions[0]} to {versions[-1]}, on Linux, macOS and Windows" in PAGE


def seconds(code: str) -> float:
    """Return the least processor time of some attempts; other load can only add to it."""
    program = f"import time\nimport numpy\nbefore = time.process_time()\n{code}\n"
    program += "print(time.process_time() - before)"
    command = [sys.executable, "-c", program]
    return min(
        float(subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout)
        for _ in range(5)
    )


@pytest.mark.slow
def test_an_import_takes_a_quarter_of_a_second_beyond_numpy():
    assert seconds("import nkijit") < 0.25
