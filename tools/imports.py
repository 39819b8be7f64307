"""Which modules import each other, found in their source, and circles among them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.checkout import ROOT

PACKAGES = {"nkijit": "nkijit", "dialects": "nkijit.dialects", "passes": "nkijit.passes"}
"""The folders of the sources, by the names under which they are imported."""


def modules_of_sources(root: Path = ROOT) -> dict[str, Path]:
    """The modules of nkijit by their names."""
    modules: dict[str, Path] = {}
    for folder, package in PACKAGES.items():
        modules |= modules_of(root / folder, package)
    return modules


def modules_of(folder: Path, package: str) -> dict[str, Path]:
    """The modules of a package by their names; links to folders are left out."""
    modules = {package: folder / "__init__.py"}
    for entry in sorted(folder.iterdir()):
        if entry.suffix == ".py" and entry.stem != "__init__":
            modules[f"{package}.{entry.stem}"] = entry
        elif entry.is_dir() and not entry.is_symlink() and (entry / "__init__.py").exists():
            modules |= modules_of(entry, f"{package}.{entry.name}")
    return modules


def imports_of(modules: Mapping[str, Path]) -> dict[str, set[str]]:
    """The modules that each module imports, in functions and for types as well.

    Imports from the packages around a module are left out: packages re-export names.
    """
    return {
        name: {
            module
            for module in imports_in(path, modules)
            if not f"{name}.".startswith(f"{module}.")
        }
        for name, path in modules.items()
    }


def imports_in(path: Path, modules: Mapping[str, Path]) -> set[str]:
    """The modules, of those given, that a file imports."""
    texts = _imported(ast.parse(path.read_text(encoding="utf-8")))
    return {module for text in texts if (module := _module(text, modules)) is not None}


def circles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of modules that all lead to each other."""
    reached = {name: _reached(name, imports) for name in imports}
    groups = {
        tuple(sorted(other for other in reached[name] if name in reached[other]))
        for name in imports
        if name in reached[name]
    }
    return [list(group) for group in sorted(groups)]


def _imported(node: ast.AST) -> Iterator[str]:
    """The dotted names that source imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports name their modules in full"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from _imported(child)


def _module(text: str, modules: Mapping[str, Path]) -> str | None:
    """The module that a dotted name is, or is defined in."""
    while text and text not in modules:
        text = text.rpartition(".")[0]
    return text or None


def _reached(start: str, imports: Mapping[str, set[str]]) -> set[str]:
    """The modules that a module leads to; itself only when it is in a circle."""
    seen: set[str] = set()
    pending = [start]
    while pending:
        following = imports[pending.pop()] - seen
        seen |= following
        pending += following
    return seen
