"""Type checkers on users' code: no errors in correct kernels, and every mistake at its place."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from support.paths import ALIASES, EXAMPLES, ROOT

FILES = ROOT / "tests" / "typing"
SCRIPTS = Path(sysconfig.get_path("scripts"))
MISTAKES = {
    number
    for number, line in enumerate((FILES / "mistakes.py").read_text().split("\n"), 1)
    if line.endswith("# mistake")
}


def pyright(folder: Path, mode: str, *, extra: tuple[Path, ...] = ()) -> dict[str, set[int]]:
    """The lines of each file in a folder in which pyright finds an error."""
    settings = {
        "include": ["."],
        "typeCheckingMode": mode,
        "extraPaths": [str(path) for path in (ROOT, ALIASES, *extra)],
        "pythonVersion": "3.11",
        # A package that pip has installed in place is known by its path only.
        "reportMissingTypeStubs": False,
        # Expressions that show a mistake have no other use.
        "reportUnusedExpression": False,
        # Loops over tiles set a name in their first iteration.
        "reportPossiblyUnboundVariable": False,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [SCRIPTS / "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", folder],
        capture_output=True,
        text=True,
        env={**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
        timeout=600,
    )
    found: dict[str, set[int]] = {}
    for one in json.loads(done.stdout)["generalDiagnostics"]:
        line = one["range"]["start"]["line"] + 1
        found.setdefault(Path(one["file"]).name, set()).add(line)
    return found


def mypy(folder: Path, *, extra: tuple[Path, ...] = ()) -> dict[str, set[int]]:
    """The lines of each file in a folder in which mypy finds an error."""
    pytest.importorskip("mypy")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-warn-return-any"),
            *("--allow-untyped-defs", "--allow-untyped-calls", "--follow-imports=silent"),
            "--disable-error-code=import-untyped",
            *("--explicit-package-bases", "--cache-dir", folder / ".cache", "."),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": os.pathsep.join(map(str, (ROOT, ALIASES, *extra)))},
        timeout=600,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found: dict[str, set[int]] = {}
    for file, line in re.findall(r"^(.+?):(\d+): error:", done.stdout, re.M):
        found.setdefault(Path(file).name, set()).add(int(line))
    return found


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for path in FILES.glob("*.py"):
        shutil.copy(path, tmp_path)
    return tmp_path


@pytest.mark.slow
def test_pyright_in_strict_mode_finds_the_mistakes_and_nothing_else(files: Path):
    assert pyright(files, "strict") == {"mistakes.py": MISTAKES}


@pytest.mark.slow
def test_mypy_finds_the_mistakes_and_nothing_else(files: Path):
    assert mypy(files) == {"mistakes.py": MISTAKES}


@pytest.mark.slow
def test_type_checkers_find_nothing_in_the_examples(tmp_path: Path):
    for path in EXAMPLES.glob("*.py"):
        shutil.copy(path, tmp_path)
    # Parameters that are tensors have no annotation, which strict mode does not take.
    assert pyright(tmp_path, "standard") == {}
    assert mypy(tmp_path) == {}


def test_both_distributions_say_that_they_are_typed():
    for package in (ROOT / "nkijit", ALIASES / "nki", ALIASES / "neuronxcc"):
        assert (package / "py.typed").exists()
