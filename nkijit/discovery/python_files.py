"""Python files that are named on the command line, run as modules."""

from __future__ import annotations

import ast
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from nkijit.passes.diagnostics.source_text import hold_text

STDIN = "<stdin>"
"""What a file is called that comes in through standard input."""


def run_file(path: Path) -> ModuleType:
    """The module of a file. Its neighbours can be imported, as by a script.

    A file is run once as long as it stays the same, so that what is defined in it is one thing.
    """
    state = path.stat()
    return _run(path, (state.st_mtime_ns, state.st_size, state.st_ino))


def run_unsaved(path: Path, text: str) -> ModuleType:
    """The module of a file with the text that an editor has, which may not be saved yet.

    Findings and tracebacks quote that text.
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
    # Compiled under the path as it was typed, not the absolute one: diagnostics show it.
    exec(compile(source, str(path), "exec"), vars(module))
    return module


def run_text(text: str, name: str = STDIN) -> ModuleType:
    """The module of a text that is in no file: that of standard input, or of another `name`."""
    module = ModuleType(name.strip("<>"))
    module.__file__ = name
    hold_text(name, text)
    sys.modules[module.__name__] = module
    exec(compile(text, name, "exec"), vars(module))
    return module


def defines_kernels(module: ast.Module) -> bool:
    """Whether a file has something under `@nki.jit`; told without running it."""
    functions = (n for n in ast.walk(module) if isinstance(n, (ast.FunctionDef, ast.ClassDef)))
    return any(_is_jit(each) for function in functions for each in function.decorator_list)


def _is_jit(decorator: ast.expr) -> bool:
    """`@nki.jit`, `@jit`, `@nki.jit(…)`."""
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")
    return name == "jit"


_NKI = {"nki", "nkijit", "neuronxcc"}


def imports_nki(module: ast.Module) -> bool:
    """Whether a file imports the kernel language, also through a module of its own."""
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
