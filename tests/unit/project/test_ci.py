"""GitHub's files: workflows and templates agree with pyproject.toml and the Makefile."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import ruamel.yaml
from support.paths import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
CONFIG = GITHUB / "ISSUE_TEMPLATE" / "config.yml"
FORMS = sorted(set(CONFIG.parent.glob("*.yml")) - {CONFIG})
SCHEMAS = {
    "citation-file-format": [ROOT / "CITATION.cff"],
    "dependabot": [GITHUB / "dependabot.yml"],
    "github-issue-config": [CONFIG],
    "github-issue-forms": FORMS,
    "github-workflows": WORKFLOWS,
}
SYSTEMS = {
    "ubuntu": "Operating System :: POSIX :: Linux",
    "macos": "Operating System :: MacOS",
    "windows": "Operating System :: Microsoft :: Windows",
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read_yaml(path: Path) -> Any:
    """YAML 1.2, in which `on` is a string."""
    return ruamel.yaml.YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


def jobs(path: Path) -> dict[str, Any]:
    return read_yaml(path)["jobs"]


def steps(path: Path) -> list[Any]:
    return [step for job in jobs(path).values() for step in job.get("steps", ())]


def runs(path: Path) -> list[str]:
    return [step["run"] for step in steps(path) if "run" in step]


every_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_schemas(schema: str):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    files = ["--default-filetype", "yaml", *(str(path) for path in SCHEMAS[schema])]
    done = subprocess.run([*command, *files], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_the_workflows():
    assert [path.stem for path in WORKFLOWS] == ["fuzz", "release", "site", "test"]


def test_the_matrix_equals_the_classifiers():
    matrix = jobs(GITHUB / "workflows" / "test.yml")["suite"]["strategy"]["matrix"]
    systems = {SYSTEMS[name.partition("-")[0]] for name in matrix["os"]}
    said = PROJECT["classifiers"]
    assert systems == {each for each in said if each.startswith("Operating System")}
    versions = {f"Programming Language :: Python :: {each}" for each in matrix["python"]}
    assert versions == {each for each in said if re.search(r":: 3\.\d+$", each)}
    assert PROJECT["requires-python"] == f">={matrix['python'][0]}"
    minor = [int(each.partition(".")[2]) for each in matrix["python"]]
    assert minor == list(range(minor[0], minor[-1] + 1))


def test_the_makefile_knows_every_target_that_is_run():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    known = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    hooks = read_yaml(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    commands = [hook["entry"] for hook in hooks]
    commands += [line for path in WORKFLOWS for run in runs(path) for line in run.splitlines()]
    made = [shlex.split(command)[1:] for command in commands if command.startswith("make ")]
    targets = {word for words in made for word in words if re.fullmatch("[a-z][a-z-]*", word)}
    assert {"lint", "suite", "release-check", "fuzz", "lint-types"} <= targets <= known


def test_the_workflow_of_the_page(tmp_path: Path):
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    file = tmp_path / "kernels.yml"
    file.write_text(re.search(r"```yaml\n(.*?)```", page, re.S)[1], encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    done = subprocess.run(
        [*command, "vendor.github-workflows", str(file)], capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout
    (check,) = [run for run in runs(file) if run.startswith("nkijit ")]
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(check)],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
    )
    # The folder does not exist; all options do.
    assert done.returncode == 2
    assert "kernels" in done.stderr
    assert "option" not in done.stderr


@every_workflow
def test_jobs_get_only_needed_permissions(path: Path):
    """Read access is the default; jobs declare their write permissions."""
    assert read_yaml(path)["permissions"] == {"contents": "read"}
    writes = {
        name: set(job["permissions"]) for name, job in jobs(path).items() if "permissions" in job
    }
    assert writes == {
        "release": {"publish": {"id-token"}, "announce": {"contents"}},
        "site": {"publish": {"pages", "id-token"}},
    }.get(path.stem, {})


@every_workflow
def test_no_job_runs_for_hours_or_beside_itself(path: Path):
    workflow = read_yaml(path)
    assert "concurrency" in workflow
    for name, job in workflow["jobs"].items():
        assert "uses" in job or job["timeout-minutes"] <= 180, name


@every_workflow
def test_actions_are_pinned_by_their_major_version(path: Path):
    for step in steps(path):
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", step["uses"]), step["uses"]


@every_workflow
def test_nothing_that_others_write_becomes_a_part_of_a_script(path: Path):
    for run in runs(path):
        assert "${{" not in run


def test_the_citation_agrees_with_the_project():
    citation = read_yaml(ROOT / "CITATION.cff")
    assert citation["title"].startswith(PROJECT["name"])
    assert citation["license"] == PROJECT["license"]


def test_names_of_files_are_possible_everywhere():
    """No two differ only in case, and none is long, reserved, or illegal on Windows."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    names = listed.rstrip("\0").split("\0")
    assert len({name.casefold() for name in names}) == len(names)
    reserved = r"(?i)(^|/)(con|prn|aux|nul|com\d|lpt\d)(\.|/|$)"
    for name in names:
        assert re.search(reserved, name) is None, name
        assert re.search(r'[<>:"\\|?*\x00-\x1f]|[. ](/|$)', name) is None, name
        assert len(name) < 150, name
        assert name.isascii(), name
