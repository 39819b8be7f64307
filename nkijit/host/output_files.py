"""Files that commands and kernels write: each is there as a whole, or as it was before."""

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
    """What bytes can be written to."""

    def write(self, data: bytes, /) -> object:
        """Write all of the bytes."""
        ...


def write_text(path: StrPath, text: str) -> None:
    """Write a text as UTF-8; see `writing`.

    What is no text (the bytes of a file name) is escaped, as JSON has it: `\\udcff`.
    """
    with writing(path) as file:
        file.write(text.encode(errors="backslashreplace"))


@contextmanager
def writing(path: StrPath) -> Generator[Writable]:
    """A file to write; what is written takes the place of what was there when the block ends.

    An exception, an interrupt as well, leaves what was there. Links are followed and permissions
    kept, as if the file were opened and written; a link to the same file under another name (a hard
    link) keeps the old contents. Written as they come are the standard streams (`/dev/stdout`, or
    the file that they go to), pipes and devices, and a file that is in a folder where none can be
    made.

    Raises OSError for what cannot be written.

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
        # Opening a folder raises what it should.
        with open(path, "wb") as file:
            yield _Stream(file)
        return
    with _beside(Path(os.path.realpath(path)), before, path) as file:
        yield file


class _Stream:
    """A pipe or a device: what can be written to, but has no place to go back to.

    NumPy asks files that have a number for their place.
    """

    def __init__(self, file: BinaryIO):
        self.write = file.write


def _standard_stream(path: StrPath) -> int | None:
    """The number of the standard stream that a path names, or that goes to the file at the path.

    Opened anew, a file would be cut, and what the stream writes later would be lost.
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
    """Whether a path names a device, or a file by the number that it was opened as."""
    if sys.platform == "win32":  # where these are folders as any other
        return False
    return Path(path).absolute().parts[1:2] in (("dev",), ("proc",))


@contextmanager
def _beside(target: Path, before: os.stat_result | None, path: StrPath) -> Generator[BinaryIO]:
    """A new file that replaces `target`, which `path` leads to, when the block ends."""
    if before is not None:
        open(target, "r+b").close()  # what may not be written may not be replaced
    made = target.parent / f".{secrets.token_hex(8)}.part"
    try:
        try:
            file = open(made, "xb")  # noqa: SIM115  (closed before it is renamed)
        except OSError as error:
            if before is None:
                raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
            with open(target, "wb") as file:
                yield file
            return
        with file:
            if before is not None:
                _make_alike(made, before)
            yield file
        _replace(made, target)
    finally:
        with suppress(OSError):
            made.unlink()


def _make_alike(made: Path, before: os.stat_result) -> None:
    """Give a new file owner and permissions of the one that it will replace, as far as allowed."""
    if sys.platform != "win32":
        with suppress(OSError):
            os.chown(made, before.st_uid, before.st_gid)
    with suppress(OSError):
        made.chmod(stat.S_IMODE(before.st_mode))


def _replace(made: Path, target: Path) -> None:
    try:
        made.replace(target)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        shutil.copyfile(made, target)  # a file that is a mount point keeps its place
