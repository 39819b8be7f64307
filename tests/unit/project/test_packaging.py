"""The two distributions: their contents, and the modules of the alias.

Also the settings whose errors would be silent: the files that the gate checks.
"""

import importlib
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT

import nkijit

ROOMS = {"nkijit": "nkijit", "dialects": "nkijit.dialects", "passes": "nkijit.passes"}


def read_toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


PYPROJECT = read_toml(ROOT / "pyproject.toml")


def package_folders(room: str, package: str) -> set[str]:
    """The packages in a room, by their import names. `rglob` does not follow links to others."""
    top = ROOT / room
    folders = [init.parent.relative_to(top) for init in top.rglob("__init__.py")]
    return {".".join((package, *folder.parts)) for folder in folders}


def test_every_package_folder_is_listed():
    found = set[str]().union(*(package_folders(*room) for room in ROOMS.items()))
    assert sorted(found) == PYPROJECT["tool"]["setuptools"]["packages"]


def test_every_python_file_is_in_a_package_or_its_data():
    patterns = PYPROJECT["tool"]["setuptools"]["package-data"]["nkijit"]
    data = {path for pattern in patterns for path in (ROOT / "nkijit").glob(pattern)}
    assert {path.name for path in data} >= {"py.typed", "column.py"}
    stray = [
        path.relative_to(ROOT).as_posix()
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if not (path.parent / "__init__.py").exists() and path not in data
    ]
    assert stray == []


def test_the_alias_gives_the_very_modules():
    program = """
import sys

import nki
import nki.isa as nisa
import nki.language as nl
from nki.isa import reduce_cmd

import nki.isa.constants
import nki.typing as nt

import nkijit.isa
import nkijit.language
import nkijit.typing

assert nki is nkijit
assert nki.isa is nisa is nkijit.isa
assert nki.language is nl is nkijit.language
assert nisa.engine is nkijit.isa.engine
assert reduce_cmd is nkijit.isa.reduce_cmd
assert nt is nkijit.typing
twice = [
    name
    for name, module in sys.modules.items()
    if name.startswith("nki.") and module is not sys.modules["nkijit" + name[3:]]
]
assert not twice, twice
"""
    subprocess.run([sys.executable, "-c", program], cwd=ROOT / "aliases", check=True, timeout=600)


def make_tree(root: Path, files: dict[str, str]) -> None:
    """A small project with the real settings, rooms and links, and the given files."""
    shutil.copy(ROOT / "pyproject.toml", root)
    for room in ROOMS:
        (root / room).mkdir()
        (root / room / "__init__.py").touch()
    try:
        for room in ("dialects", "passes"):
            (root / "nkijit" / room).symlink_to(Path("..", room), target_is_directory=True)
    except OSError:
        assert sys.platform == "win32"
        pytest.skip("links need the Developer Mode")
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(text)


def run_tool(root: Path, name: str, *arguments: str, code: int = 1) -> str:
    tool = Path(sysconfig.get_path("scripts"), name)
    result = subprocess.run(
        [tool, *arguments], cwd=root, capture_output=True, text=True, timeout=600
    )
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout


@pytest.mark.slow
def test_every_room_is_type_checked(tmp_path: Path):
    wrong = "wrong: int = 'text'  # type: ignore\n"
    names = [f"{room}/inner/wrong.py" for room in ROOMS]
    make_tree(tmp_path, dict.fromkeys(names, wrong))
    printed = run_tool(tmp_path, "pyright")
    assert printed.count("is not assignable to declared type") == len(ROOMS)


def modules_without_content() -> dict[str, str]:
    """Every module of the project, as a contract sees it before anything is imported."""
    links = {(ROOT / "nkijit" / room) for room in ("dialects", "passes")}
    paths = (path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    own = (path for path in paths if not links & set(path.parents))
    return {path.relative_to(ROOT).as_posix(): "" for path in own}


@pytest.mark.slow
def test_modules_that_import_nothing_keep_all_contracts(tmp_path: Path):
    make_tree(tmp_path, modules_without_content())
    assert ", 0 broken." in run_tool(tmp_path, "lint-imports", "--no-cache", code=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("importer", "line"),
    [
        ("dialects/nki/views.py", "import numpy"),
        ("dialects/nki/views.py", "import nkijit"),
        ("dialects/nki/views.py", "from nkijit.passes.verify import rules"),
        ("dialects/nki/views.py", "from nkijit.isa import activation"),
        ("dialects/nki/views.py", "from nkijit.dialects.nisa import activation"),
        ("passes/verify/rules.py", "import nkijit"),
        ("passes/verify/rules.py", "from nkijit.isa import activation"),
        ("passes/verify/rules.py", "from nkijit.passes.lower import program"),
        ("passes/analysis/writes/liveness.py", "from nkijit.passes.verify import rules"),
        ("nkijit/tracing/tracer.py", "from nkijit import jit"),
        ("nkijit/tracing/tracer.py", "from nkijit.kernels.entry import jit"),
    ],
)
def test_imports_against_the_direction_are_found(tmp_path: Path, importer: str, line: str):
    good = "from nkijit.dialects.hardware import words"
    make_tree(tmp_path, modules_without_content() | {importer: f"{good}\n{line}\n"})
    printed = run_tool(tmp_path, "lint-imports", "--no-cache")
    assert ", 0 broken." not in printed
    module = importer.removesuffix(".py").replace("/", ".").removeprefix("nkijit.")
    assert f"nkijit.{module} -> " in printed


@pytest.mark.slow
def test_a_new_module_has_to_be_given_its_place(tmp_path: Path):
    make_tree(tmp_path, modules_without_content() | {"nkijit/new.py": ""})
    assert "nkijit.new" in run_tool(tmp_path, "lint-imports", "--no-cache")


def test_functions_that_build_binaries_are_refused():
    with pytest.raises(AttributeError, match="builds binaries for devices"):
        _ = importlib.import_module("nki.compiler").compile_kernel
    with pytest.raises(ImportError):
        importlib.import_module("nki.compiler.kernel_builder")


def test_every_public_name_that_kernels_import_is_there():
    program = """
import nki as nki
import nki.typing as nt
from nki.compiler import AddressRotation, CompileConfig, SpecializationConfig
from nki.isa import dma_engine
from nki.isa.constants import dge_mode
from nki.language import NKIObject, NkiTensor, equal, maximum
from nki.typing import mutable_tensor, tensor

index_dtype: nki.dtype = "int32"
assert nki.isa.get_nc_sub_version() == 0
assert nki.isa.dge_mode is dge_mode
assert [member.name for member in dma_engine] == ["dma", "gpsimd_dma"]
"""
    subprocess.run([sys.executable, "-c", program], cwd=ROOT / "aliases", check=True, timeout=600)


def test_names_of_older_kernels_are_refused_by_name():
    for name in ("simulate_kernel", "trace", "baremetal", "benchmark", "profile"):
        with pytest.raises(AttributeError, match=rf"nki\.{name} is not modelled by nkijit"):
            getattr(nkijit, name)
