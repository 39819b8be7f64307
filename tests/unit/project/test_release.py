"""Requirements of a release: one version, a changelog in its form, absolute links of pages."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from datetime import date
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from support.paths import ALIASES, ROOT
from support.project import tool

import nkijit

release = tool("release")
SECTION = re.compile(rf"^## \[(?:Unreleased|{release.VERSION})\]", re.MULTILINE)
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def read_toml(path: Path) -> Any:
    return tomllib.loads(path.read_text(encoding="utf-8"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that say a version."""
    for name in (*release.PLACES, "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


# ---------------------------------------------------------------- versions


def test_the_version_is_one():
    assert set(release.versions().values()) == {nkijit.__version__}


def test_a_version_is_set_everywhere(checkout: Path):
    release.set_version("12.3.4rc1", checkout)
    found = release.versions(checkout)
    assert found.pop("CHANGELOG.md") == nkijit.__version__
    assert set(found.values()) == {"12.3.4rc1"}
    aliases = read_toml(checkout / "aliases" / "pyproject.toml")["project"]
    assert aliases["version"] == "12.3.4rc1"
    assert aliases["dependencies"] == ["nkijit==12.3.4rc1"]
    changed = [n for n in release.PLACES if (checkout / n).read_bytes() != (ROOT / n).read_bytes()]
    assert changed == list(release.PLACES)


@pytest.mark.parametrize("version", ["1.2", "v1.2.3", "1.2.3.dev0", "", '1.2.3"'])
def test_texts_that_are_not_versions_are_refused(checkout: Path, version: str):
    with pytest.raises(ValueError, match="is not of the form"):
        release.set_version(version, checkout)
    assert set(release.versions(checkout).values()) == {nkijit.__version__}


@pytest.mark.parametrize("place", [*release.PLACES, "CHANGELOG.md"])
def test_a_version_that_was_forgotten_is_found(
    checkout: Path, place: str, monkeypatch: pytest.MonkeyPatch
):
    path = checkout / place
    text = path.read_text(encoding="utf-8").replace(nkijit.__version__, "9.9.9", 1)
    path.write_text(text, encoding="utf-8")
    found = release.versions(checkout)
    monkeypatch.setattr(release, "versions", lambda: found)
    (problem,) = release._versions_agree(None)
    assert f"{place}: 9.9.9" in problem


def test_pyproject_reads_the_version_and_repeats_none():
    project = read_toml(ROOT / "pyproject.toml")
    assert "version" in project["project"]["dynamic"]
    (read,) = project["tool"]["setuptools"]["dynamic"]["version"].values()
    module, _, name = read.rpartition(".")
    assert getattr(importlib.import_module(module), name) == nkijit.__version__
    assert nkijit.__version__ not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_distributions_ask_for_the_same_python():
    ours, aliases = (read_toml(f / "pyproject.toml")["project"] for f in (ROOT, ALIASES))
    for field in ("requires-python", "license", "classifiers"):
        assert aliases[field] == ours[field], field
    assert (ALIASES / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


# ---------------------------------------------------------------- the changelog


def test_the_changelog_has_its_form():
    """As Keep a Changelog has it: versions from the newest on, kinds of changes, lists."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.startswith("# Changelog\n")
    headings = [line for line in text.splitlines() if re.match(r"##? ?\[|## ", line)]
    assert headings
    versions: list[tuple[int, ...]] = []
    for number, heading in enumerate(headings):
        if heading == "## [Unreleased]":
            assert number == 0
            continue
        match = release.HEADING.fullmatch(heading)
        assert match is not None, heading
        versions.append(tuple(map(int, re.findall(r"\d+", match[1]))))
        if match[2] == "unreleased":
            assert number == 0, f"{heading}: only the newest is not released"
        else:
            date.fromisoformat(match[2].removesuffix(" [YANKED]"))
    assert versions == sorted(set(versions), reverse=True)
    for section in SECTION.split(text)[1:]:
        kinds = re.findall(r"^### (.+)$", section, re.MULTILINE)
        assert set(kinds) <= set(KINDS)
        assert kinds == [kind for kind in KINDS if kind in kinds]
        for kind in re.split(r"^### .+$", section, flags=re.MULTILINE)[1:]:
            assert kind.strip().startswith("- ")


def test_notes_are_the_newest_section(checkout: Path):
    path = checkout / "CHANGELOG.md"
    old = "## [0.0.1] - 2020-01-01\n\n### Added\n\n- The beginning.\n"
    new = "## [0.0.2] - 2020-01-02\n\n### Fixed\n\n- The end.\n"
    path.write_text(f"# Changelog\n\n{new}\n{old}", encoding="utf-8")
    assert release.notes(checkout) == "### Fixed\n\n- The end."


# ---------------------------------------------------------------- distributions


def setup_py() -> Any:
    spec = importlib.util.spec_from_file_location("setup_of_nkijit", ROOT / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_of_a_page_are_absolute():
    text = (
        "[a](docs/a.md#part), [`b`](./b/c.py), [c](https://x.org/y), [d](#here), `x[0](1)`\n"
        "[e]: https://x.org\n"
    )
    home = "https://home.org/of/it"
    assert setup_py().page(text, home, "1.2.3") == (
        f"[a]({home}/blob/v1.2.3/docs/a.md#part), [`b`]({home}/blob/v1.2.3/b/c.py), "
        f"[c](https://x.org/y), [d](#here), `x[0]({home}/blob/v1.2.3/1)`\n[e]: https://x.org\n"
    )


def test_links_of_the_readme_lead_to_files():
    targets = re.findall(r"\]\(([^)\s]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    for target in targets:
        if not target.startswith(("https://", "#")):
            assert (ROOT / target.partition("#")[0]).exists(), target


def test_every_url_of_the_project_has_the_same_start():
    urls = read_toml(ROOT / "pyproject.toml")["project"]["urls"]
    assert all(url.startswith(urls["Repository"]) for url in urls.values())


def built_of(monkeypatch: pytest.MonkeyPatch, *, files: Any = None, metadata: Any = None) -> Any:
    """Distributions, of which only this is looked at."""
    built = release.Built(Path())
    monkeypatch.setattr(type(built), "files", lambda _: files)
    monkeypatch.setattr(type(built), "metadata", lambda _: metadata)
    return built


WHOLE = ["nkijit-1.dist-info/licenses/LICENSE", "nkijit-1.dist-info/METADATA"]


@pytest.mark.parametrize(
    ("more", "less", "problem"),
    [
        ("tests/unit/test_a.py", "", "tests/unit/test_a.py"),
        ("", "nkijit/py.typed", "no py.typed"),
        ("", "nkijit/assets/lit/lit.cfg.py.txt", "lit.cfg.py.txt"),
        ("", "nkijit/dialects/__init__.py", "nkijit/dialects/__init__.py"),
        ("", WHOLE[0], "no LICENSE"),
    ],
)
def test_surplus_and_missing_files_of_a_wheel_are_found(
    monkeypatch: pytest.MonkeyPatch, more: str, less: str, problem: str
):
    whole = {*release.shipped(), *WHOLE}
    assert not list(release._contents(built_of(monkeypatch, files={"nkijit-1.whl": list(whole)})))
    assert not less or less in whole
    names = [name for name in (whole | {more}) - {less} if name]
    found = list(release._contents(built_of(monkeypatch, files={"nkijit-1.whl": names})))
    assert any(problem in each for each in found)


def test_a_relative_link_on_a_page_is_found(monkeypatch: pytest.MonkeyPatch):
    metadata = Message()
    for field in ("Summary", "Requires-Python", "License-Expression", "Project-URL"):
        metadata[field] = "text"
    metadata.set_payload("text " * 200 + "[a](docs/a.md)")
    built = built_of(monkeypatch, metadata={"x.whl": metadata})
    assert list(release._pages(built)) == ["x.whl: the readme links to docs/a.md"]


@pytest.mark.slow
def test_the_distributions_of_committed_files(tmp_path: Path):
    """Built from a clone, as CI builds them."""
    command = [sys.executable, "-m", "tools.release", "--draft", "--dist", str(tmp_path / "dist")]
    environment = {**os.environ, "PYTHONUTF8": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok") >= len(release.POINTS)
    assert len(list((tmp_path / "dist").iterdir())) == 4
