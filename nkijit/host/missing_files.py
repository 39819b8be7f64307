"""Messages about files and folders that do not exist."""

from __future__ import annotations

import os
from pathlib import Path

from nkijit.dialects.spelling import did_you_mean

StrPath = str | os.PathLike[str]


def missing_file(path: StrPath) -> str:
    """Return the message for a file that does not exist, with the name of a similar file.

    If its folder does not exist either, the message names the folder.
    """
    if message := missing_folder(path):
        return message
    folder = Path(path).parent
    suffix = Path(path).suffix
    near = did_you_mean(Path(path).name, [f.name for f in folder.iterdir() if f.suffix == suffix])
    return f"no such file: {os.fspath(path)}{near}"


def missing_folder(path: StrPath) -> str:
    """Return a message if the folder of a file does not exist; "" if it does."""
    folder = Path(path).absolute().parent
    if folder.is_dir():
        return ""
    kind = "not a folder" if folder.exists() else "no such folder"
    return f"{kind}: {Path(path).parent}"
