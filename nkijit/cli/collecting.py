"""The command line argument for several files and folders."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from nkijit.cli.selection import FILE_HELP, Selection, Tracing
from nkijit.discovery.python_files import defines_kernels
from nkijit.host.terminal import waiting

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
    def unreadable(self) -> dict[Path, str]:
        """The Python files below the given folders that cannot be parsed, with the reason."""
        folders = (file for file in self.files if Path(file).is_dir())
        return {path: why for file in folders for path, why in _searched(file).unreadable.items()}

    @property
    def skipped(self) -> str:
        """The files and folders below the given folders that are not checked, with reasons."""
        parts = list[str]()
        for found in (_searched(file) for file in self.files if Path(file).is_dir()):
            if found.without:
                files = "file has" if found.without == 1 else "files have"
                parts.append(f"{found.without} Python {files} no function under @nki.jit")
            if found.ir:
                files = "file is" if found.ir == 1 else "files are"
                parts.append(f"{found.ir} .mlir {files} checked only by name")
            parts += [f"{path} cannot be read ({why})" for path, why in found.unreadable.items()]
            if found.folders:
                names = sorted({path.name for path in found.folders})
                parts.append(f"folders were skipped: {', '.join(names)}")
        return "; ".join(parts)

    @property
    def has_folder(self) -> bool:
        """Whether a folder is among the files."""
        return any(Path(file).is_dir() for file in self.files)

    def selections(self) -> list[Selection]:
        """Return a selection per file, without duplicates; folders are searched for kernels."""
        found: dict[str, None] = {}
        for file in self.files:
            if Path(file).is_dir():
                found.update((str(path), None) for path in _searched(file).with_kernels)
            else:
                found[file] = None
        return [
            Selection(file=file, arg=self.arg, target=self.target, cores=self.cores, deny=self.deny)
            for file in found
        ]


@dataclass
class _Search:
    """The Python files below a folder. They are not executed."""

    with_kernels: list[Path] = field(default_factory=list[Path])
    without: int = 0
    """The number of files that define no kernel."""
    unreadable: dict[Path, str] = field(default_factory=dict[Path, str])
    """Files that are not Python, with the reason."""
    folders: list[Path] = field(default_factory=list[Path])
    """Folders that were skipped because of their name, or because they are symbolic links."""
    ir: int = 0
    """The number of `.mlir` files, which are checked only if they are named."""

    def search(self, folder: Path) -> _Search:
        """Search a folder and the folders below it."""
        for path in sorted(folder.iterdir()):
            if path.is_dir():
                # Symbolic links may form cycles.
                if path.name.startswith(".") or path.name in _LEFT_OUT or path.is_symlink():
                    self.folders.append(path)
                else:
                    self.search(path)
            elif path.suffix == ".mlir":
                self.ir += 1
            elif path.suffix == ".py" and path.is_file() and not path.name.startswith("."):
                self._file(path)
        return self

    def _file(self, path: Path) -> None:
        try:
            defines = defines_kernels(ast.parse(path.read_bytes()))
        except (OSError, SyntaxError, ValueError, RecursionError) as error:
            self.unreadable[path] = f"{type(error).__name__}: {error}"
            return
        if defines:
            self.with_kernels.append(path)
        else:
            self.without += 1


@cache
def _searched(folder: str) -> _Search:
    with waiting(f"searching {folder} for kernels"):
        return _Search().search(Path(folder))
