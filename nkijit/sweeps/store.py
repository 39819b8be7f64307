"""Results of sweeps in a file: each is appended as a line of JSON as soon as it is known.

After an interrupt, the file has whole lines and possibly a partial one, which is ignored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

_HEAD = {"nkijit sweep": 1}
"""The first line of a store: the type of file and the version of the format."""


class StoreError(ValueError):
    """The file is not a store of results."""


class Store:
    """The results in a file, by key."""

    def __init__(self, path: str | os.PathLike[str]):
        """Open or create a store. Raises StoreError for a file that is not a store."""
        self._path = Path(path)
        self._known: dict[str, Mapping[str, Any]] = {}
        head = f"{json.dumps(_HEAD)}\n".encode()
        data = self._path.read_bytes() if self._path.exists() else b""
        first, end, rest = data.partition(b"\n")
        if head.startswith(data):
            self._append(head[len(data) :])
            return
        if first + end != head:
            raise StoreError(f"{self._path} is no file of results of a sweep; name another one")
        for text in rest.split(b"\n")[:-1]:
            self._take(text)
        if not data.endswith(b"\n"):
            self._append(b"\n")  # end an interrupted line

    def _take(self, text: bytes) -> None:
        try:
            entry: Any = json.loads(text)
        except ValueError:  # a partial line
            return
        if isinstance(entry, dict):
            found = cast("dict[str, Any]", entry)
            self._known[str(found.get("key"))] = found

    def get(self, key: str) -> Mapping[str, Any] | None:
        """Return the result under a key, or None."""
        return self._known.get(key)

    def add(self, key: str, point: str, result: Mapping[str, Any]) -> None:
        """Add a result; `point` is for readers of the file."""
        entry = {"key": key, "point": point, **result}
        self._known[key] = entry
        self._append(f"{json.dumps(entry)}\n".encode())

    def _append(self, data: bytes) -> None:
        with open(self._path, "ab") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
