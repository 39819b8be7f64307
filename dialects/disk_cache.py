"""A cache of results on disk, for all processes of a user.

A file's name is a digest of everything that its content depends on. Files are written under a
temporary name and renamed, so processes can share a folder. Each file begins with a digest of its
contents, so incomplete files are ignored. The folder belongs to the user and is trusted, like
Python's bytecode caches.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

MOST_FILES = 4096
_DIGEST = hashlib.sha256


class DiskCache:
    """The files of one kind of result in a folder."""

    def __init__(self, where: Path | None):
        """Use a folder, which need not exist; None for a cache that stores nothing."""
        self._where = where

    @staticmethod
    def of_environment(variable: str, name: str) -> DiskCache:
        """Return the cache in the folder that a variable names; an empty name disables it.

        Without the variable, it is the folder `nkijit/<name>` in the user's cache.
        """
        named = os.environ.get(variable)
        if named is not None:
            return DiskCache(Path(named) if named else None)
        home = os.environ.get("XDG_CACHE_HOME")
        with contextlib.suppress(RuntimeError):  # there is no home
            return DiskCache((Path(home) if home else Path.home() / ".cache") / "nkijit" / name)
        return DiskCache(None)

    @property
    def enabled(self) -> bool:
        """Whether the cache has a folder."""
        return self._where is not None

    def load(self, name: str) -> bytes | None:
        """Return the content stored under a name; None if absent or invalid."""
        if self._where is None:
            return None
        try:
            stored = (self._where / name).read_bytes()
        except OSError:
            return None
        digest, content = stored[:32], stored[32:]
        return content if _DIGEST(content).digest() == digest else None

    def store(self, name: str, content: bytes) -> None:
        """Store content under a name; a folder that cannot be written is ignored."""
        if self._where is None:
            return
        with contextlib.suppress(OSError):
            self._where.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, temporary = tempfile.mkstemp(dir=self._where, prefix=".")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_DIGEST(content).digest() + content)
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
