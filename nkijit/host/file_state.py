"""Detection of changed files."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of a file, to detect a later change."""

    stat: tuple[int, ...]
    digest: bytes | None
    """A digest of the content if the file was modified less than `_RECENT` ago; else None.

    File systems have coarse clocks, so a second write may leave the same modification time.
    """

    @classmethod
    def of(cls, path: Path) -> FileState:
        """Return the current state of a file. Raises OSError when it does not exist."""
        stat = _stat(path)
        is_recent = time.time_ns() - max(stat[:2]) < _RECENT
        return cls(stat, _digest(path) if is_recent else None)

    def is_of(self, path: Path) -> bool:
        """Whether the file at `path` still has this state."""
        try:
            return _stat(path) == self.stat and self.digest in (None, _digest(path))
        except OSError:
            return False


_RECENT = 2_000_000_000
"""The time in ns after a write within which a second write may get the same modification time.

FAT has the coarsest clock in use, with steps of two seconds.
"""


def _stat(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev


def _digest(path: Path) -> bytes:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "blake2b").digest()
