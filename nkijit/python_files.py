"""Python files that are named on the command line, run as modules."""

from __future__ import annotations

import importlib.util
import linecache
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

STDIN = "<stdin>"
"""What a file is called that comes in through standard input."""


def run_file(path: Path) -> ModuleType:
    """The module of a file. Its neighbours can be imported, as by a script.

    A file is run once as long as it stays the same, so that what is defined in it is one thing.
    """
    state = path.stat()
    return _run(path, (state.st_mtime_ns, state.st_size, state.st_ino))


@cache
def _run(path: Path, _state: tuple[int, ...]) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None, "the file is a Python file"
    module = importlib.util.module_from_spec(spec)
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sys.modules[path.stem] = module
    # Compiled under the path as it was typed, not the absolute one: diagnostics show it.
    exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
    return module


def run_text(text: str) -> ModuleType:
    """The module of a file that came in through standard input."""
    module = ModuleType("stdin")
    module.__file__ = STDIN
    linecache.cache[STDIN] = (len(text), None, text.splitlines(keepends=True), STDIN)
    sys.modules[module.__name__] = module
    exec(compile(text, STDIN, "exec"), vars(module))
    return module
