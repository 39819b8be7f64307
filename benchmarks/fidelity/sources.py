"""Sources of published kernels: downloaded once, and extracted from documents and strings."""

from __future__ import annotations

import ast
import os
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.request import urlopen

from benchmarks.fidelity.rows import Row, Source

TIMEOUT = 60
"""Seconds to wait for a file."""


class UnavailableError(Exception):
    """A source that cannot be downloaded or does not contain the kernel."""


def default_folder() -> Path:
    """Return the default folder for downloaded files, in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "nkijit" / "fidelity"


def text_of(source: Source, folder: Path) -> str:
    """Return the text of a source.

    It is read from `folder/owner/name/commit/path`, or downloaded to this file first.
    """
    cached = folder / source.repository / source.commit / source.path
    if not cached.exists():
        try:
            with urlopen(source.url, timeout=TIMEOUT) as answer:
                data = answer.read()
        except OSError as error:
            raise UnavailableError(f"{source.url}: {error}") from error
        cached.parent.mkdir(parents=True, exist_ok=True)
        partial = cached.with_name(f"{cached.name}.{os.getpid()}")
        partial.write_bytes(data)
        partial.replace(cached)
    return cached.read_text()


def kernel_text(row: Row, source: Source, text: str) -> str:
    """Return the module that defines a row's kernel, with the constants of the row."""
    pieces = [piece for piece in _pieces(text, source.path) if _defines(piece, row.function)]
    if row.version >= len(pieces):
        raise UnavailableError(f"{source.path} has {len(pieces)} of '{row.function}'")
    return _with_constants(source.prelude + pieces[row.version], row.function, row.constants)


def _pieces(text: str, path: str) -> Iterator[str]:
    """Yield the Python texts of a file: the file and its strings, or the code blocks of a page."""
    if path.endswith(".rst"):
        yield from map(textwrap.dedent, _BLOCK.findall(text))
        return
    yield text
    strings = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant)]
    found = [n for n in strings if isinstance(n.value, str)]
    yield from (str(n.value) for n in sorted(found, key=lambda n: n.lineno))


_BLOCK = re.compile(r"^ *\.\. code-block:: python\n((?:[ \t]+.*\n|[ \t]*\n)+)", re.MULTILINE)


def _defines(piece: str, function: str) -> bool:
    try:
        tree = ast.parse(piece)
    except SyntaxError:
        return False
    return any(isinstance(n, ast.FunctionDef) and n.name == function for n in tree.body)


def _with_constants(text: str, function: str, constants: Mapping[str, int]) -> str:
    """Return the text with other values of variables of a function."""
    (node,) = (
        n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == function
    )
    lines = text.splitlines(keepends=True)
    before, inside = lines[: node.lineno - 1], "".join(lines[node.lineno - 1 : node.end_lineno])
    for name, value in constants.items():
        inside, count = re.subn(rf"^( *{name} = ).*$", rf"\g<1>{value}", inside, flags=re.MULTILINE)
        if count != 1:
            raise UnavailableError(f"'{name}' is assigned {count} times")
    return "".join([*before, inside, *lines[node.end_lineno :]])
