"""Atomic writes of files: a file has its new content completely, or is unchanged."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Protocol

StrPath = str | os.PathLike[str]


class Writable(Protocol):
    """A stream for bytes."""

    def write(self, data: bytes, /) -> object:
        """Write all of the bytes."""
        ...


def write_text(path: StrPath, text: str) -> None:
    """Write a text as UTF-8, atomically (see `writing`).

    Surrogates (undecodable bytes of file names) are escaped as in JSON: `\\udcff`.
    """
    with writing(path) as file:
        file.write(text.encode(errors="backslashreplace"))


@contextmanager
def writing(path: StrPath) -> Generator[Writable]:
    """Open a file for writing; the new content replaces the old content when the block ends.

    An exception or an interrupt leaves the old content. As for a plain `open`, symbolic links are
    followed and permissions are preserved. A hard link to the file under another name keeps the old
    content.

    Some files are written directly instead: the standard streams (`/dev/stdout`, or the file that
    they are redirected to), pipes, devices, and files in folders where no new file can be created.

    Raises OSError.

    Example:

        with writing("result.npy") as file:
            np.save(file, array)
    """
    stream = _standard_stream(path)
    if stream is not None:
        sys.stdout.flush()
        sys.stderr.flush()
        with open(os.dup(stream), "wb") as file:
            yield _Stream(file)
        return
    try:
        before = os.stat(path)
    except FileNotFoundError:
        before = None
    if _is_opened_elsewhere(path) or (before is not None and not stat.S_ISREG(before.st_mode)):
        # For a folder, `open` raises the right error.
        with open(path, "wb") as file:
            yield _Stream(file)
        return
    with _beside(Path(os.path.realpath(path)), before, path) as file:
        yield file


class _Stream:
    """A pipe or a device, without a `fileno`.

    NumPy requests the position of files that have a `fileno`, and a pipe has no position.
    """

    def __init__(self, file: BinaryIO):
        self.write = file.write


def _standard_stream(path: StrPath) -> int | None:
    """Return the descriptor of the standard stream that a path refers to, if any.

    Opening the path again would truncate the file, and later output of the stream would be lost.
    """
    try:
        named = os.stat(path)
    except OSError:
        return None
    for number in (1, 2):
        with suppress(OSError):
            if os.path.samestat(named, os.fstat(number)):
                return number
    return None


def _is_opened_elsewhere(path: StrPath) -> bool:
    """Whether a path is below `/dev` or `/proc`: a device or an open file descriptor."""
    if sys.platform == "win32":  # ordinary folders there
        return False
    return Path(path).absolute().parts[1:2] in (("dev",), ("proc",))


@contextmanager
def _beside(target: Path, before: os.stat_result | None, path: StrPath) -> Generator[BinaryIO]:
    """Open a new file that replaces `target` when the block ends.

    Args:
        target: the real path.
        before: the state of the existing file; None if there is none.
        path: as the user wrote it, for errors.
    """
    if before is not None:
        open(target, "r+b").close()  # raises for a read-only file, which must not be replaced
    new = target.parent / f".{secrets.token_hex(8)}.part"
    try:
        try:
            file = open(new, "xb")  # noqa: SIM115  (closed before it is renamed)
        except OSError as error:
            if before is None:
                raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
            with open(target, "wb") as file:
                yield file
            return
        with file:
            if before is not None:
                _copy_attributes(new, before)
            yield file
        _replace(new, target)
    finally:
        with suppress(OSError):
            new.unlink()


def _copy_attributes(new: Path, before: os.stat_result) -> None:
    """Give a new file the owner and permissions of the file that it will replace, if allowed."""
    if sys.platform != "win32":
        with suppress(OSError):
            os.chown(new, before.st_uid, before.st_gid)
    with suppress(OSError):
        new.chmod(stat.S_IMODE(before.st_mode))


def _replace(new: Path, target: Path) -> None:
    try:
        new.replace(target)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        shutil.copyfile(new, target)  # a mount point cannot be replaced
