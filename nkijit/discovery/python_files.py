"""Execution of Python files as modules, and the kernels that their source defines."""

from __future__ import annotations

import ast
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from nkijit.passes.diagnostics.source_text import hold_text

STDIN = "<stdin>"
"""The name of a file that is read from standard input."""


def run_file(path: Path) -> ModuleType:
    """Execute a file as a module. It can import other files of its folder, as a script can.

    An unchanged file is executed once, so that its definitions keep their identity.
    """
    state = path.stat()
    return _run(path, (state.st_mtime_ns, state.st_size, state.st_ino))


def run_unsaved(path: Path, text: str) -> ModuleType:
    """Execute the text of a file from an editor, where it may not be saved yet.

    Findings and tracebacks quote this text.
    """
    hold_text(str(path), text)
    return _module_of(path, text)


@cache
def _run(path: Path, _state: tuple[int, ...]) -> ModuleType:
    return _module_of(path, path.read_bytes())


def _module_of(path: Path, source: bytes | str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None, "the file is a Python file"
    module = importlib.util.module_from_spec(spec)
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sys.modules[path.stem] = module
    # Compiled with the path that the user typed, not the absolute one, because findings show it.
    exec(compile(source, str(path), "exec"), vars(module))
    return module


def run_text(text: str, name: str = STDIN) -> ModuleType:
    """Execute text that is not in a file, such as standard input, as a module."""
    module = ModuleType(name.strip("<>"))
    module.__file__ = name
    hold_text(name, text)
    sys.modules[module.__name__] = module
    exec(compile(text, name, "exec"), vars(module))
    return module


def defines_kernels(module: ast.Module) -> bool:
    """Whether a file has a function or class under `@nki.jit`. Reads the syntax tree only."""
    functions = (n for n in ast.walk(module) if isinstance(n, (ast.FunctionDef, ast.ClassDef)))
    return any(_is_jit(each) for function in functions for each in function.decorator_list)


def _is_jit(decorator: ast.expr) -> bool:
    """Whether a decorator is `@nki.jit`, `@jit` or `@nki.jit(…)`."""
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")
    return name == "jit"


_NKI = {"nki", "nkijit", "neuronxcc"}


def imports_nki(module: ast.Module) -> bool:
    """Whether a file imports NKI, or a module with `nki` or `nkijit` in its dotted name."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        if any(not _NKI.isdisjoint(name.split(".")) for name in names):
            return True
    return False
