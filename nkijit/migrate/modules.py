"""Edits of a module outside its kernels: imports, decorators, launches, default values."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nkijit import classic
from nkijit import typing as today_typing
from nkijit.classic.launch.kernel import ClassicKernel
from nkijit.migrate.api import TODAY, UNKNOWN, api_name, dtype_text, value_of
from nkijit.migrate.rewriting import Module, Rewrite
from nkijit.migrate.sources import Edit

_ROOTS = ("neuronxcc.nki", "nkijit.classic")
"""The import names of the classic API."""
_JIT = ("jit", "baremetal", "benchmark", "profile", "trace")
"""Decorators that create a kernel."""
_MODULES = {"language": "nl", "isa": "nisa"}


class ModuleRewriter:
    """Edits a module around its kernels."""

    def __init__(
        self,
        module: Module,
        untouched: Sequence[tuple[int, int]],
        functions: Sequence[tuple[int, int]],
    ):
        """Prepare the edits.

        Args:
            module: the module.
            untouched: the byte ranges that other rewriters edit.
            functions: the byte ranges of all functions, including untouched ones.
        """
        self._functions = functions
        self._module = module
        self._source = module.source
        self._untouched = untouched
        self.edits: list[Edit] = []
        self.rewrites: list[Rewrite] = []
        self.left: list[tuple[int, str]] = []
        """Lines that need manual work, with the reason."""
        self._last_import: ast.stmt | None = None
        self._imported = {
            alias.asname or alias.name
            for node in ast.walk(self._source.tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "") in _ROOTS
            for alias in node.names
        }

    def rewrite(self, grids: Mapping[str, Sequence[int]]) -> None:
        """Edit the module. `grids` has the grid of each kernel whose grid became a parameter."""
        for node in ast.walk(self._source.tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
            elif isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    if not self._is_inside(decorator):
                        self._decorator(decorator)
        self._launches(grids)
        self._names()
        self._add_imports()

    def _edit(self, node: ast.AST, text: str, rule: str) -> None:
        start, end = self._source.span(node)
        if self._source.segment(node) == text:
            return
        self.edits.append(Edit(start, end, text))
        before = self._source.segment(node).split("\n")[0]
        self.rewrites.append(Rewrite(getattr(node, "lineno", 1), rule, before))

    # ---------------------------------------------------------------- imports

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        text = _imported(node)
        if text is None:
            return
        at_top = node in self._source.tree.body
        if at_top:
            self._last_import = node
        if not text:
            text = ["pass"] if not at_top else []
        indentation = self._source.indentation(node)
        if not text:
            self.edits.append(Edit(*self._source.lines_of(node), ""))
            return
        self._edit(node, f"\n{indentation}".join(text), "import")
        if any("neuronxcc" in line for line in text):
            self.left.append((node.lineno, f"`{self._source.segment(node)}` has no counterpart"))

    def _add_imports(self) -> None:
        """Add the imports that rewritten kernels need and the module lacks."""
        lines = ""
        for module, name in (("isa", "nisa"), ("language", "nl")):
            if name in self._module.needed and not self._has(module):
                lines += f"import nki.{module} as {name}\n"
        if not lines:
            return
        if self._last_import is None:
            raise AssertionError("a module of kernels imports their API")
        end = self._source.lines_of(self._last_import)[1]
        self.edits.append(Edit(end, end, lines))

    def _has(self, module: str) -> bool:
        wanted = getattr(classic, module)
        bound = imported_names(self._source.tree)
        names = self._module.names.items()
        return any(value is wanted and name in bound for name, value in names)

    # ---------------------------------------------------------------- kernels

    def _decorator(self, node: ast.expr) -> None:
        called = node.func if isinstance(node, ast.Call) else node
        found = api_name(value_of(called, self._module.names))
        if found is None or found[0] != "nki" or found[1] not in _JIT:
            return
        text = self._source.segment(called)
        if found[1] != "jit":
            text = "jit" if text in self._imported else text
            if isinstance(called, ast.Attribute):
                text = f"{self._source.segment(called.value)}.jit"
        self._edit(node, text, "decorator")

    def _launches(self, grids: Mapping[str, Sequence[int]]) -> None:
        """Rewrite `kernel[4, 2](a, b)` to `kernel(a, b, grid=(4, 2))`."""
        parents: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self._source.tree):
            for child in ast.iter_child_nodes(node):
                parents[child] = node
        for node in ast.walk(self._source.tree):
            if isinstance(node, ast.Call):
                self._simulated(node)
            if not isinstance(node, ast.Subscript) or self._is_inside(node):
                continue
            value = value_of(node.value, self._module.names)
            if not isinstance(value, ClassicKernel):
                continue
            kernel = self._source.segment(node.value)
            name = value.__name__
            cores = 1
            grid = self._grid(node.slice)
            if grid is None:
                launched = launch_of(node, self._module.names, self._source.path)
                launch = None if launched is None else launched.launch_grid
                if launch is not None:
                    cores, sizes = launch.cores, launch.sizes
                    grid = f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"
                    if sizes == (cores,) and name not in grids:
                        self._edit(node, f"{kernel}[{cores}]", "grid")
                        continue
            if name not in grids or grid is None:
                self.left.append((node.lineno, f"the launch `{self._source.segment(node)}`"))
                continue
            kernel = f"{kernel}[{cores}]" if cores > 1 else kernel
            parent = parents.get(node)
            if isinstance(parent, ast.Call) and parent.func is node:
                self._edit(node, kernel, "grid")
                close = self._source.span(parent)[1] - 1
                inner = self._source.text.encode()[self._source.span(node)[1] : close].decode()
                comma = ", " if inner.strip("( \n").rstrip(", \n") else ""
                comma = "" if inner.rstrip().endswith(",") else comma
                self.edits.append(Edit(close, close, f"{comma}grid={grid}"))
            else:
                self._edit(node, f"functools.partial({kernel}, grid={grid})", "grid")
                self._need_functools()

    def _need_functools(self) -> None:
        names = self._module.names
        if names.get("functools") is None and self._last_import is not None:
            start = self._source.lines_of(self._first_import())[0]
            edit = Edit(start, start, "import functools\n")
            if edit not in self.edits:
                self.edits.append(edit)

    def _first_import(self) -> ast.stmt:
        found = [
            n
            for n in self._source.tree.body
            if isinstance(n, (ast.Import, ast.ImportFrom))
            and getattr(n, "module", "") != "__future__"
        ]
        return found[0]

    def _grid(self, node: ast.expr) -> str | None:
        """Return the text of a tuple with the sizes of a grid; None for a grid over cores."""
        if any(isinstance(n, ast.Call) for n in ast.walk(node)):
            return None
        text = self._source.segment(node)
        if isinstance(node, ast.Tuple):
            return text if text.startswith("(") else f"({text})"
        value = value_of(node, self._module.names)
        is_tuple = isinstance(value, tuple)
        return text if is_tuple else f"({text},)"

    def _simulated(self, node: ast.Call) -> None:
        """Rewrite `nki.simulate_kernel(kernel, a, b)` to `nki.simulate(kernel)(a, b)`."""
        if api_name(value_of(node.func, self._module.names)) != ("nki", "simulate_kernel"):
            return
        if not node.args:
            self.left.append((node.lineno, f"`{self._source.segment(node)}`"))
            return
        kernel = node.args[0]
        name = self._source.segment(node.func)
        if name in self._imported:
            name = "simulate"
        elif isinstance(node.func, ast.Attribute):
            name = f"{self._source.segment(node.func.value)}.simulate"
        self._edit(node.func, name, "launch")
        end = self._source.span(kernel)[1]
        rest = [*node.args[1:], *(k.value for k in node.keywords)]
        if rest:
            first: ast.AST = node.args[1] if len(node.args) > 1 else node.keywords[0]
            start = self._source.span(first)[0]
            self.edits.append(Edit(end, start, ")("))
        else:
            self.edits.append(Edit(end, end, ")("))

    # ---------------------------------------------------------------- names

    def _is_inside(self, node: ast.AST) -> bool:
        start, end = self._source.span(node)
        return any(first <= start and end <= last for first, last in self._untouched)

    def _names(self) -> None:
        """Replace names that the current API lacks, outside of kernel functions."""
        for node in self._outside(self._source.tree):
            if not isinstance(node, ast.Attribute):
                continue
            value = value_of(node, self._module.names)
            owner = value_of(node.value, self._module.names)
            found = api_name(value)
            if value is UNKNOWN or found in (("nl", "fp32"), ("nl", "bfp16"), ("nisa", "fp32")):
                continue
            if any(e.start <= self._source.span(node)[0] < e.end for e in self.edits):
                continue
            if api_name(owner) in (("nl", "fp32"), ("nl", "bfp16"), ("nisa", "fp32")):
                self._edit(node, repr(value), "name")
            elif found is not None and found[0] == "nki" and found[1] in (*_JIT, "simulate_kernel"):
                name = "simulate" if found[1] == "simulate_kernel" else "jit"
                self._edit(node, f"{self._source.segment(node.value)}.{name}", "name")
            elif owner is classic.typing and not hasattr(today_typing, node.attr):
                self.left.append((node.lineno, f"`{self._source.segment(node)}`"))
            elif found is not None and found[0] in TODAY and not hasattr(TODAY[found[0]], found[1]):
                text = dtype_text(value, self._module.nl)
                if text is None:
                    self.left.append((node.lineno, f"`{self._source.segment(node)}`"))
                else:
                    self._edit(node, text, "name")

    def _outside(self, node: ast.AST) -> Iterator[ast.AST]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.expr, ast.stmt)):
                start, end = self._source.span(child)
                if any(first <= start and end <= last for first, last in self._functions):
                    continue
            yield child
            yield from self._outside(child)


def is_classic(tree: ast.Module) -> bool:
    """Whether a module imports the classic API."""
    return any(
        isinstance(node, (ast.Import, ast.ImportFrom)) and _imported(node) is not None
        for node in ast.walk(tree)
    )


def imported_names(tree: ast.Module) -> set[str]:
    """Return the names that a module's imports bind, except names of `import *`."""
    return {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }


def launch_of(
    node: ast.Subscript, names: Mapping[str, Any], path: str
) -> ClassicKernel[Any] | None:
    """Evaluate a launch such as `kernel[nl.nc(2) * 2, 2]`; None if it needs local variables."""
    if not isinstance(value_of(node.value, names), ClassicKernel):
        return None
    try:
        return eval(compile(ast.Expression(node), path, "eval"), dict(names))
    except Exception:  # the grid depends on a function's arguments
        return None


def _imported(node: ast.Import | ast.ImportFrom) -> list[str] | None:
    """Return the lines that replace an import; None if it is not of the classic API."""
    if isinstance(node, ast.Import):
        if not any(alias.name.startswith(_ROOTS) for alias in node.names):
            return None
        lines: list[str] = []
        for alias in node.names:
            name = _today(alias.name)
            bound = alias.asname
            lines.append(f"import {name}" + (f" as {bound}" if bound and bound != name else ""))
        return lines
    module = node.module or ""
    if node.level or not (module.startswith(_ROOTS) or module in ("neuronxcc", "nkijit")):
        return None
    lines = []
    names: list[str] = []
    for alias in node.names:
        full = f"{module}.{alias.name}"
        bound = alias.asname or alias.name
        if module in ("neuronxcc", "nkijit"):
            if not full.startswith(_ROOTS):
                return None
            lines.append("import nki" + (f" as {bound}" if bound != "nki" else ""))
        elif module in _ROOTS and alias.name in ("language", "isa", "typing", "compiler"):
            if alias.name != "compiler":
                lines.append(f"import nki.{alias.name} as {bound}")
        elif module in _ROOTS and alias.name in _JIT:
            name = f"jit as {bound}" if alias.name == "jit" and bound != "jit" else "jit"
            if name not in names:
                names.append(name)
        elif module in _ROOTS and alias.name == "simulate_kernel":
            names.append("simulate")
        elif alias.name == "*" or _is_today(module, alias.name):
            names.append(alias.name + (f" as {alias.asname}" if alias.asname else ""))
    if names:
        target = _today(module)
        target = {"nki.isa.constants": "nki.isa", "nki.language.constants": "nki.language"}.get(
            target, target
        )
        lines.append(f"from {target} import {', '.join(names)}")
    return lines


def _today(name: str) -> str:
    for root in _ROOTS:
        if name == root or name.startswith(f"{root}."):
            return f"nki{name[len(root) :]}"
    return name


def _is_today(module: str, name: str) -> bool:
    """Whether the current module has a name."""
    part = _today(module).split(".")[1:2]
    found: Any = TODAY.get(_MODULES.get(part[0], "")) if part else None
    if part == ["typing"]:
        found = today_typing
    return found is not None and hasattr(found, name)


__all__ = ["ModuleRewriter", "imported_names", "is_classic", "launch_of"]
