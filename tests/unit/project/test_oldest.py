"""The oldest versions of dependencies, which `make test-oldest` runs the tests with."""

from __future__ import annotations

import subprocess
import sys
import tomllib

from packaging.requirements import Requirement
from support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def test_oldest_versions_satisfy_the_requirements() -> None:
    command = [sys.executable, "-m", "tools.oldest"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, cwd=ROOT)
    oldest = {each.name: each.specifier for each in map(Requirement, done.stdout.splitlines())}
    lists = (
        PROJECT["dependencies"],
        *(EXTRAS[name] for name in ("native", "lsp", "mcp", "optuna")),
    )
    for requirement in (Requirement(each) for listed in lists for each in listed):
        (bound,) = (each for each in requirement.specifier if each.operator == ">=")
        first = bound.version if "." in bound.version else f"{bound.version}.0"
        assert {first, f"{first}.1"} == set(oldest[requirement.name].filter([first, f"{first}.1"]))
        assert "9999" not in oldest[requirement.name]
    assert oldest.keys().isdisjoint({"ruff", "sphinx", "torch"})
    assert "2.1" not in oldest["numpy"]
    assert "2.1" not in oldest["pygls"], "pygls>=2 is 2.0"
