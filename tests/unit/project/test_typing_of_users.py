"""Type checkers on users' code: no errors in correct kernels, and every mistake at its place."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
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


def pyright(folder: Path) -> dict[str, set[int]]:
    """The lines of each file in a folder in which pyright finds an error.

    Files of `tests/typing` are checked in strict mode. Examples are not: their parameters that are
    tensors have no annotation.
    """
    settings = {
        "include": ["."],
        "typeCheckingMode": "standard",
        "strict": [path.name for path in FILES.glob("*.py")],
        "extraPaths": [str(path) for path in (ROOT, ALIASES)],
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


def mypy(folder: Path) -> dict[str, set[int]]:
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
        env={**os.environ, "MYPYPATH": os.pathsep.join(map(str, (ROOT, ALIASES)))},
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
@pytest.mark.parametrize("checker", [pyright, mypy])
def test_type_checkers_find_the_mistakes_and_nothing_in_the_examples(
    checker: Callable[[Path], dict[str, set[int]]], files: Path
) -> None:
    for path in EXAMPLES.glob("*.py"):
        shutil.copy(path, files)
    assert checker(files) == {"mistakes.py": MISTAKES}


def test_both_distributions_say_that_they_are_typed():
    for package in (ROOT / "nkijit", ALIASES / "nki", ALIASES / "neuronxcc"):
        assert (package / "py.typed").exists()
