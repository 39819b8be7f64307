"""No modules import each other in a circle, in functions and for types included."""

from __future__ import annotations

from pathlib import Path

from support.project import tool

imports = tool("imports")


def test_there_are_no_circles() -> None:
    found = imports.circles(imports.imports_of(imports.modules_of_sources()))
    message = "modules import each other in a circle:\n" + "\n".join(map(", ".join, found))
    assert not found, message


def circles_of(folder: Path, sources: dict[str, str]) -> list[list[str]]:
    """The circles of a made-up package `made`."""
    for path, source in sources.items():
        file = folder / "made" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")
    return imports.circles(imports.imports_of(imports.modules_of(folder / "made", "made")))


def test_a_late_import_closes_a_circle(tmp_path: Path) -> None:
    sources = {
        "__init__.py": "",
        "first.py": "import made.second",
        "second.py": "from made.third import name",
        "third.py": "def name():\n    from made import first\n    return first",
        "above.py": "from made import first, second",
    }
    assert circles_of(tmp_path, sources) == [["made.first", "made.second", "made.third"]]


def test_a_circle_goes_through_a_package(tmp_path: Path) -> None:
    sources = {
        "__init__.py": "",
        "package/__init__.py": "from made.package.inside import name",
        "package/inside.py": "from made.below import name",
        "below.py": "def f():\n    from made import package",
    }
    assert circles_of(tmp_path, sources) == [["made.below", "made.package", "made.package.inside"]]


def test_an_import_for_types_closes_a_circle(tmp_path: Path) -> None:
    sources = {
        "__init__.py": "",
        "first.py": "from made.second import name",
        "second.py": "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from made.first import name",
    }
    assert circles_of(tmp_path, sources) == [["made.first", "made.second"]]


def test_imports_of_the_package_around_close_none(tmp_path: Path) -> None:
    sources = {
        "__init__.py": "from made.first import name",
        "first.py": "from made import second\nfrom made.second import name",
        "second.py": "from made import name",
    }
    assert circles_of(tmp_path, sources) == []
