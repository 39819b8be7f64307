"""Functions that read untrusted files: regular files of bounded size only."""

from __future__ import annotations

import errno
import os
import stat

from nkijit.dialects.spelling import numbered


def check_regular(path: str | os.PathLike[str]) -> os.stat_result:
    """Raise OSError unless a path is a regular file.

    Opening a FIFO would wait, and reading a device might never end.
    """
    status = os.stat(path)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file", os.fspath(path))
    return status


def read_regular(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the bytes of a regular file.

    Raises OSError, also for a file of more than `most` bytes.
    """
    check_regular(path)
    with open(path, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"has more than {numbered(most, 'byte')}", os.fspath(path))
    return data
