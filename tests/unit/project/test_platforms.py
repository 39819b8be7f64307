"""Features that some systems lack are used only after a check of the system.

The stubs of the standard library define the features of each system. pyright reads them, and knows
which branches of `if sys.platform == ...` belong to which system.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import mypy
import pytest
from support.paths import ROOT

ROOMS = {"nkijit": "nkijit", "dialects": "nkijit/dialects", "passes": "nkijit/passes"}
STUBS = Path(mypy.__file__).parent / "typeshed" / "stdlib"


@cache
def modules_of_systems() -> frozenset[str]:
    """The modules of the standard library that are not the same on all systems."""
    found: set[str] = set()
    for stub in STUBS.rglob("*.pyi"):
        if "sys.platform" in stub.read_text(encoding="utf-8"):
            path = stub.relative_to(STUBS).with_suffix("")
            found.add(".".join(path.parts).removesuffix(".__init__"))
    # Names of these are on all systems, but for a few of `sys`, which nothing is about here.
    return frozenset(found - {"ast", "builtins", "sys", "types", "typing"})


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def files() -> list[Path]:
    """The modules of nkijit that import any of these, by the paths that pyright knows."""
    return [
        ROOT / link / path.relative_to(ROOT / room)
        for room, link in ROOMS.items()
        for path in sorted((ROOT / room).rglob("*.py"))
        if not (room == "nkijit" and path.relative_to(ROOT / room).parts[0] in ROOMS)
        if imported(path) & modules_of_systems()
    ]


def complaints(platform: str, paths: list[Path]) -> list[str]:
    """Return pyright's errors in files on a platform, without those about types."""
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run(
        [*command, "--pythonplatform", platform, *map(str, paths)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] == len(paths)
    rules = ("reportAttributeAccessIssue", "reportMissingImports", "reportPossiblyUnbound")
    return [
        f"{each['file']}:{each['range']['start']['line'] + 1}: {each['message']}"
        for each in found["generalDiagnostics"]
        if each.get("rule") in rules
    ]


def test_the_files_that_are_looked_at():
    names = {path.relative_to(ROOT).as_posix() for path in files()}
    assert {
        "nkijit/host/processes/forks.py",
        "nkijit/sweeps/pool.py",
        "nkijit/passes/diagnostics/source_text.py",
    } <= names


IMPORTS = """\
import importlib, sys
names = sys.stdin.read().split()
for name in names:  # imports their dependences as this system has them
    importlib.import_module(name)
for name in [name for name in sys.modules if name.partition(".")[0] == "nkijit"]:
    del sys.modules[name]
sys.platform = "win32"
for name in names:
    try:
        importlib.import_module(name)
    except Exception as error:
        print(name, type(error), error)
"""


@pytest.mark.slow
def test_modules_are_imported_on_windows():
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for room in ("nkijit", "nkijit/dialects", "nkijit/passes")
        for path in sorted((ROOT / room).rglob("*.py"))
        if path.stem != "__main__"
    ]
    command = [sys.executable, "-c", IMPORTS]
    failures = subprocess.check_output(command, input="\n".join(modules), text=True, timeout=600)
    assert failures == ""


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["Windows", "Darwin"])
def test_no_feature_is_used_that_a_system_lacks(platform: str):
    assert complaints(platform, files()) == []


@pytest.mark.slow
@pytest.mark.parametrize(("platform", "count"), [("Linux", 0), ("Darwin", 1), ("Windows", 4)])
def test_uses_of_features_that_a_system_lacks_are_found(platform: str, count: int, tmp_path: Path):
    path = tmp_path / "wrong.py"
    path.write_text(
        "import os, resource, signal, sys\n"
        "os.sched_getaffinity(0)\n"
        "os.fork()\n"
        "signal.alarm(signal.SIGALRM)\n"
        "if sys.platform != 'win32':\n"
        "    os.getuid()\n",
        encoding="utf-8",
    )
    assert len(complaints(platform, [path])) == count
