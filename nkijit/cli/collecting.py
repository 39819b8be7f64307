"""The command line argument for several files and folders."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from nkijit.cli.selection import FILE_HELP, Selection, Tracing
from nkijit.discovery.python_files import defines_kernels

_LEFT_OUT = frozenset({"__pycache__", "build", "dist", "node_modules", "site-packages", "venv"})
"""Names of folders that are skipped: they contain generated files or other projects' files."""


@dataclass(frozen=True, kw_only=True)
class Files(Tracing):
    """Files and folders of a command, and the options for tracing their kernels."""

    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE[:KERNEL]...",
            help=f"{FILE_HELP}; a folder stands for all its files with kernels",
        ),
    ]

    @property
    def has_folder(self) -> bool:
        """Whether a folder is among the files."""
        return any(Path(file).is_dir() for file in self.files)

    def selections(self) -> list[Selection]:
        """Return a selection per file, without duplicates; folders are searched for kernels."""
        found: dict[str, None] = {}
        for file in self.files:
            if Path(file).is_dir():
                found.update((str(path), None) for path in _with_kernels(Path(file)))
            else:
                found[file] = None
        return [
            Selection(file=file, arg=self.arg, target=self.target, cores=self.cores, deny=self.deny)
            for file in found
        ]


def _with_kernels(folder: Path) -> Iterator[Path]:
    """Yield the Python files below a folder that define kernels. Does not execute them."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in _LEFT_OUT:
            continue
        if path.is_dir():
            # Symbolic links may form cycles.
            if not path.is_symlink():
                yield from _with_kernels(path)
        elif path.suffix == ".py" and path.is_file() and _defines_kernels(path):
            yield path


def _defines_kernels(path: Path) -> bool:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return False
    return defines_kernels(tree)
