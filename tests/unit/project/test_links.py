"""Checkouts without symbolic links, as git makes them on Windows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT
from support.project import tool

ROOMS = ("dialects", "passes")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository of its own, whose links git has made text files of."""
    made = tmp_path / "made"
    made.mkdir()
    git(made, "init", "--quiet")
    git(made, "config", "core.symlinks", "false")
    (made / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    for room in ROOMS:
        (made / room).mkdir()
        (made / room / "__init__.py").touch()
        (made / "nkijit").mkdir(exist_ok=True)
        (made / "nkijit" / room).write_text(f"../{room}", encoding="utf-8", newline="\n")
        name = git(made, "hash-object", "-w", f"nkijit/{room}").strip()
        git(made, "update-index", "--add", "--cacheinfo", f"120000,{name},nkijit/{room}")
    git(made, "add", ".")
    return made


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


def test_text_files_become_links_and_git_sees_no_change(clone: Path):
    before = git(clone, "status", "--short")
    assert all((clone / "nkijit" / room).is_file() for room in ROOMS)
    try:
        assert tool("links").repair(clone) == list(ROOMS)
    except OSError:
        assert sys.platform == "win32"
        pytest.skip("links need the Developer Mode")
    for room in ROOMS:
        assert (clone / "nkijit" / room).resolve() == (clone / room).resolve()
    assert git(clone, "status", "--short") == before
    assert tool("links").repair(clone) == []


def test_where_no_links_can_be_made_nothing_is_lost(clone: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        raise OSError("a required privilege is not held")

    monkeypatch.setattr(os, "symlink", refuse)
    with pytest.raises(OSError, match="privilege"):
        tool("links").repair(clone)
    assert (clone / "nkijit" / "dialects").read_text(encoding="utf-8") == "../dialects"
    assert len(list((clone / "nkijit").iterdir())) == len(ROOMS)


def test_the_table_of_packages_names_the_links():
    found = tool("links").links(ROOT)
    listed = {
        line.split("\t")[1]
        for line in git(ROOT, "ls-files", "-s").splitlines()
        if line.startswith("120000")
    }
    assert {link.relative_to(ROOT).as_posix() for link in found} == listed
    for link, leads_to in found.items():
        assert (link.parent / leads_to).resolve().is_dir()


KERNEL = """\
import nkijit
import nkijit.isa as nisa
import nkijit.language as nl


@nkijit.jit
def doubled(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile[0:4], data=tile, op0=nl.multiply, operand0=2.0)
    nl.store(out, tile)
    return out
"""
# As the finder of an editable install does, which knows folders by the names of their packages.
INSTALLED = """\
import sys
from importlib.machinery import PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path

top = Path(sys.argv.pop(1))
folders = {"nkijit": "nkijit", "nkijit.dialects": "dialects", "nkijit.passes": "passes"}

class Finder:
    def find_spec(name, path=None, target=None):
        if name in folders:
            folder = top / folders[name]
            search = [str(folder)]
            return spec_from_file_location(
                name, folder / "__init__.py", submodule_search_locations=search
            )

sys.path[:] = [entry for entry in sys.path if not (Path(entry) / "nkijit").exists()]
sys.meta_path[:] = [each for each in sys.meta_path if "editable" not in repr(each).lower()]
sys.meta_path.append(Finder)
import nkijit.dialects
assert Path(nkijit.dialects.__file__) == top / "dialects" / "__init__.py", nkijit.dialects
from nkijit.host.installed import is_library_file
from nkijit.tracing.locations import is_internal
file = nkijit.dialects.__file__
assert is_library_file(file)
assert is_internal(compile("", file, "exec"))
from nkijit.cli import main
sys.exit(main())
"""


@pytest.mark.slow
def test_findings_are_at_the_authors_lines_without_links(tmp_path: Path):
    top = tmp_path / "top"
    for room in ("nkijit", *ROOMS):
        left_out = shutil.ignore_patterns("__pycache__", *(ROOMS if room == "nkijit" else ()))
        shutil.copytree(ROOT / room, top / room, ignore=left_out)
    (tmp_path / "kernel.py").write_text(KERNEL, encoding="utf-8")
    arguments = ["verify", "kernel.py", "-a", "x=8x8:float32"]
    printed = [
        subprocess.run(
            [sys.executable, *command, *arguments],
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
        )
        for command in (["-c", INSTALLED, str(top)], ["-m", "nkijit"])
    ]
    assert [done.returncode for done in printed] == [1, 1], printed[0].stderr
    assert "--> kernel.py:10:" in printed[0].stdout
    assert printed[0].stdout == printed[1].stdout
