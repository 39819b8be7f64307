"""`tools.tests_of` finds the tests of every module; `make test-fast` ends in time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT
from support.project import tool

tests_of = tool("tests_of")
imports = tool("imports")

ENTRY_POINTS = ["nkijit/__main__.py", "nkijit/universe.py"]
"""Modules that nothing imports: tests start the commands that load them."""

NEAREST = {
    "passes/lower/order.py": "tests/unit/passes/lower/test_order.py",
    # search.py is in several folders.
    "passes/values/search.py": "tests/unit/passes/values/test_search.py",
    "dialects/nisa/search.py": "tests/unit/passes/interpret/semantics/nisa/test_search.py",
    "tests/unit/traced/test_recording.py": "tests/unit/traced/test_recording.py",
    "tests/lit/lower/matmul.mlir": "tests/lit/lower/matmul.mlir",
    "docs/rules.md": "tests/unit/dialects/test_rules_document.py",
}


def test_every_module_has_tests() -> None:
    tests = tests_of.Tests()
    paths = [p.relative_to(ROOT).as_posix() for p in imports.modules_of_sources().values()]
    assert len(paths) > 500
    # Packages whose __init__.py is a docstring have nothing to test.
    missing = [p for p in paths if not tests.of(p) and not p.endswith("__init__.py")]
    assert missing == ENTRY_POINTS


@pytest.mark.parametrize(("file", "nearest"), NEAREST.items(), ids=list(NEAREST))
def test_the_nearest_test_comes_first(file: str, nearest: str) -> None:
    assert (ROOT / nearest).exists()
    assert tests_of.tests_of([file])[:1] == [nearest]


def test_the_lit_files_of_a_family_are_among_its_tests() -> None:
    assert {"tests/lit/dialects/nisa/matmul", "tests/lit/lower/matmul.mlir"} <= set(
        tests_of.tests_of(["dialects/nisa/matmul.py"])
    )


def made_checkout(folder: Path, sources: dict[str, str]) -> Path:
    for package in ("nkijit", "dialects", "passes"):
        sources = {f"{package}/__init__.py": "", **sources}
    for path, source in sources.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")
    return folder


def test_without_tests_of_its_own_a_module_has_those_of_its_importers(tmp_path: Path) -> None:
    root = made_checkout(
        tmp_path,
        {
            "passes/below.py": "",
            "passes/middle.py": "from nkijit.passes import below",
            "nkijit/above.py": "from nkijit.passes.middle import name",
            "tests/unit/test_other.py": "import nkijit.above",
            "tests/unit/test_unrelated.py": "",
        },
    )
    tests = tests_of.Tests(root)
    assert tests.of("passes/below.py") == ["tests/unit/test_other.py"]
    (root / "tests/unit/passes").mkdir()
    (root / "tests/unit/passes/test_middle.py").write_text("", encoding="utf-8")
    assert tests_of.Tests(root).of("passes/below.py") == ["tests/unit/passes/test_middle.py"]


def test_without_importers_a_module_has_the_tests_of_its_package(tmp_path: Path) -> None:
    root = made_checkout(
        tmp_path, {"nkijit/cli/__init__.py": "", "nkijit/cli/cost.py": "", "tests/lit/cli/x.py": ""}
    )
    assert tests_of.Tests(root).of("nkijit/cli/cost.py") == ["tests/lit/cli"]


def test_tests_that_begin_too_late_are_skipped() -> None:
    file = Path("tests/unit/project/test_imports.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(ROOT / file)]
    done = subprocess.run(
        [*command, "--seconds=0"], capture_output=True, encoding="utf-8", cwd=ROOT, check=False
    )
    assert done.returncode == 0
    assert "the 0 seconds of this run are over" in done.stdout
    assert "passed" not in done.stdout
