"""Migration of a module from one release of the current API to another, by the table of releases.

Arguments that a release renames get the new name. Removed and ignored arguments are left out. Loop
functions that a release replaces by `range` become `range`. The module is not executed, because a
module for an old release may not run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nkijit.migrate.rewriting import Rewrite
from nkijit.migrate.sources import Edit, Source
from nkijit.releases.table import (
    Release,
    function_of,
    has_row,
    releases,
    removed_in,
    replacement,
    since,
)

_MODULES = {"nki": "nki", "nkijit": "nki"}
_LEFT_OUT = "leave it out"
_LOOP = "use range"


class ReleaseRewriter:
    """Finds differences between releases in a module, and edits them."""

    def __init__(self, source: Source, release: Release):
        """Prepare the migration to `release`."""
        self._source = source
        self._release = release
        self._names = dict(_imports(source.tree))
        self.edits: list[Edit] = []
        self.rewrites: list[Rewrite] = []
        self.left: list[tuple[int, str]] = []

    @property
    def is_today(self) -> bool:
        """Whether the module imports the current API."""
        return bool(self._names)

    def rewrite(self) -> None:
        """Edit all of the module."""
        for node in ast.walk(self._source.tree):
            if isinstance(node, ast.Call):
                self._call(node)
            if isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load):
                self._name(node)

    def _public(self, node: ast.expr) -> str | None:
        """Return the public name that an expression refers to, e.g. `nki.isa.nc_matmul`."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._public(node.value)
            return None if owner is None else f"{owner}.{node.attr}"
        return None

    def _note(self, node: ast.AST, rule: str) -> None:
        before = self._source.segment(node).split("\n")[0]
        self.rewrites.append(Rewrite(getattr(node, "lineno", 1), rule, before))

    def _name(self, node: ast.Attribute | ast.Name) -> None:
        name = self._public(node)
        if name is None or not has_row(name):
            return
        shown = self._source.segment(node)
        removed = removed_in(name)
        if self._deprecated(name) == _LOOP:
            self.edits.append(Edit(*self._source.span(node), "range"))
            self._note(node, "loop")
        elif removed is not None and removed <= self._release:
            advice = replacement(name)
            text = f"`{shown}` was removed in {removed}{f'; {advice}' if advice else ''}"
            self.left.append((node.lineno, text))
        elif self._release < since(name):
            self.left.append((node.lineno, f"`{shown}` is there since {since(name)} only"))

    def _deprecated(self, name: str) -> str | None:
        for release in releases():
            if release <= self._release and name in release.deprecates:
                return release.deprecates[name]
        return None

    def _call(self, node: ast.Call) -> None:
        name = self._public(node.func)
        if name is None:
            return
        for at, keyword in enumerate(node.keywords):
            row = f"{name}({keyword.arg})"
            for release in releases():
                if release > self._release:
                    break
                if row in release.renames:
                    start = self._source.span(keyword)[0]
                    end = start + len(str(keyword.arg).encode())
                    self.edits.append(Edit(start, end, release.renames[row]))
                    self._note(keyword, "argument")
                elif row in release.removes:
                    self._removed(node, at, release.removes[row], row, release)

    def _removed(self, node: ast.Call, at: int, advice: str, row: str, release: Release) -> None:
        """Delete the keyword `at` of a call, or report it with `advice`.

        `release` has removed this argument; `row` is its row in the table of releases.
        """
        keyword = node.keywords[at]
        if not advice.strip().startswith(_LEFT_OUT):
            text = (
                f"`{keyword.arg}` of {function_of(row)} was removed in {release}; {advice.strip()}"
            )
            self.left.append((keyword.value.lineno, text))
            return
        before: list[ast.AST] = [*node.args, *node.keywords[:at]]
        start, end = self._source.span(keyword)
        if before:
            start = self._source.span(before[-1])[1]
        elif at + 1 < len(node.keywords):
            end = self._source.span(node.keywords[at + 1])[0]
        self.edits.append(Edit(start, end, ""))
        self._note(keyword, "argument")


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names that imports bind, each with the public name that it refers to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root, dot, rest = alias.name.partition(".")
                if root in _MODULES and not rest.startswith("classic"):
                    name = f"{_MODULES[root]}{dot}{rest}"
                    yield (alias.asname, name) if alias.asname else (root, _MODULES[root])
        elif isinstance(node, ast.ImportFrom) and not node.level:
            root, dot, rest = (node.module or "").partition(".")
            if root in _MODULES and not rest.startswith("classic"):
                for alias in node.names:
                    if alias.name != "classic":
                        name = f"{_MODULES[root]}{dot}{rest}.{alias.name}"
                        yield alias.asname or alias.name, name


__all__ = ["ReleaseRewriter"]
