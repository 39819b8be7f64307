"""A cache of object code on disk: each form is compiled once per machine instead of per process.

Object code depends on the form, the code that emits it, LLVM and the CPU; a file's name is a digest
of all of them. Files are written under a temporary name and renamed, so processes can share a
folder. Each file begins with a digest of its contents, so incomplete files are ignored. The folder
belongs to the user and is trusted, like Python's bytecode caches.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

CACHE_VARIABLE = "NKIJIT_NATIVE_CACHE"
"""The variable that names the folder; empty disables the cache."""
MOST_FILES = 4096
_DIGEST = hashlib.sha256


def folder() -> Path | None:
    """Return the folder for object code; None if there is none."""
    named = os.environ.get(CACHE_VARIABLE)
    if named is not None:
        return Path(named) if named else None
    home = os.environ.get("XDG_CACHE_HOME")
    with contextlib.suppress(RuntimeError):  # there is no home
        return (Path(home) if home else Path.home() / ".cache") / "nkijit" / "native"
    return None


class Objects:
    """The object code in a folder."""

    def __init__(self, where: Path | None):
        self._where = where

    def load(self, name: str) -> bytes | None:
        """Return the code stored under a name; None if absent or invalid."""
        if self._where is None:
            return None
        try:
            content = (self._where / name).read_bytes()
        except OSError:
            return None
        digest, code = content[:32], content[32:]
        return code if _DIGEST(code).digest() == digest else None

    def store(self, name: str, code: bytes) -> None:
        """Store code under a name; a folder that cannot be written is ignored."""
        if self._where is None:
            return
        with contextlib.suppress(OSError):
            self._where.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, temporary = tempfile.mkstemp(dir=self._where, prefix=".")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_DIGEST(code).digest() + code)
                os.replace(temporary, self._where / name)
            except BaseException:
                os.unlink(temporary)
                raise
            self._tidy()

    def _tidy(self) -> None:
        """Delete the older half of the files if there are too many."""
        assert self._where is not None
        files = list(self._where.iterdir())
        if len(files) <= MOST_FILES:
            return
        files.sort(key=lambda path: path.stat().st_mtime)
        for path in files[: len(files) // 2]:
            path.unlink(missing_ok=True)
