"""Object code on disk, so that a form is compiled once on a machine and not once in each process.

What is kept depends on the form, the code that emits it, LLVM and the CPU; all of them are part of
a file's name. Files are written beside and renamed, so processes may share a folder, and each
begins with a digest of the rest, so half of one is none. Like Python's own bytecode the folder is
the user's, and is trusted.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

CACHE_VARIABLE = "NKIJIT_NATIVE_CACHE"
"""The folder; empty for none."""
MOST_FILES = 4096
_DIGEST = hashlib.sha256


def folder() -> Path | None:
    """Where object code is kept; None where it is not."""
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
        """What was kept under a name."""
        if self._where is None:
            return None
        try:
            content = (self._where / name).read_bytes()
        except OSError:
            return None
        digest, code = content[:32], content[32:]
        return code if _DIGEST(code).digest() == digest else None

    def store(self, name: str, code: bytes) -> None:
        """Keep code under a name; a folder that cannot be written keeps nothing."""
        if self._where is None:
            return
        with contextlib.suppress(OSError):
            self._where.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, beside = tempfile.mkstemp(dir=self._where, prefix=".")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_DIGEST(code).digest() + code)
                os.replace(beside, self._where / name)
            except BaseException:
                os.unlink(beside)
                raise
            self._tidy()

    def _tidy(self) -> None:
        """Leave out what was not used for the longest time, where there is too much."""
        assert self._where is not None
        files = list(self._where.iterdir())
        if len(files) <= MOST_FILES:
            return
        files.sort(key=lambda path: path.stat().st_mtime)
        for path in files[: len(files) // 2]:
            path.unlink(missing_ok=True)
