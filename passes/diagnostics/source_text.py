"""The text of source files that is shown: beside findings, in listings and reports.

A location can name anything: a device, a FIFO, or, in a file of IR from elsewhere, a file that is
nobody else's business. So only regular files of a bounded size are read; and what only IR that was
parsed names has to be Python or IR, below the working directory or the folder of that IR.
"""

from __future__ import annotations

import io
import linecache
import os
import tokenize
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import CodeType

from nkijit.dialects.files import check_regular, read_regular

MAX_SOURCE_BYTES = 1 << 22
"""Larger files are not shown; the largest module of Python's own library has an eighth of it."""

SHOWN_SUFFIXES = (".py", ".mlir")
"""What files are called that a file of IR may quote from."""

_parsed: set[str] = set()
_running: set[str] = set()
_claimed: set[str] = set()
_folders: set[str] = set()
_held: dict[str, tuple[str, ...]] = {}


def source_of_code(code: CodeType) -> str:
    """The file that code of this process comes from, whatever IR says of it."""
    _running.add(code.co_filename)
    return code.co_filename


def claim_source(file: str) -> None:
    """Note that IR which was parsed names a file as its source."""
    _claimed.add(file)


def parsed_as(name: str) -> None:
    """Note what text of IR is called that operations without a location have their place in."""
    _parsed.add(name)


def is_parsed_text(name: str) -> bool:
    """Whether that is the name of text of IR, which says nothing of the author's source."""
    return name in _parsed


def show_source_below(folder: str | os.PathLike[str]) -> None:
    """Let source be shown that lies below the folder of a file of IR."""
    _folders.add(os.path.realpath(folder))


def hold_text(file: str, text: str) -> None:
    """Let a text be that of a file: of standard input, of what an editor has not saved yet."""
    _held[file] = lines_of(text)
    # Tracebacks read it there.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def source_lines(file: str) -> Sequence[str]:
    """The lines of a file, as Python counts them, without their ends; empty when it is not shown.

    What is no text of its encoding, and NUL, is replaced by U+FFFD.
    """
    if file in _held:
        return _held[file]
    try:
        status = check_regular(file)
        is_claim = file in _claimed and file not in _running
        if is_claim and not _may_be_quoted(os.path.realpath(file)):
            return ()
        state = (status.st_mtime_ns, status.st_size, status.st_ino)
        return _read(file, is_claim, state)
    except (FileNotFoundError, NotADirectoryError):
        # Notebooks and interactive sessions keep the text of what has been typed.
        kept = linecache.getlines(file) if file in linecache.cache else ()
        return [text.rstrip("\n") for text in kept]
    except (OSError, ValueError):  # not readable, or a name that no file can have
        return ()


def source_line(file: str, line: int) -> str:
    """One line, counted from 1, without its end; empty when it is not shown."""
    lines = source_lines(file)
    return lines[line - 1] if 0 < line <= len(lines) else ""


def source_text(file: str) -> str:
    """All lines, each with its end; empty when the file is not shown."""
    return "".join(f"{text}\n" for text in source_lines(file))


def text_around(code: CodeType) -> str:
    """The text of the file that code of this process comes from; empty when there is none."""
    return source_text(source_of_code(code))


def _may_be_quoted(path: str) -> bool:
    if not path.endswith(SHOWN_SUFFIXES):
        return False
    return any(Path(path).is_relative_to(folder) for folder in (os.path.realpath("."), *_folders))


@lru_cache(maxsize=32)
def _read(file: str, is_claim: bool, _state: tuple[int, ...]) -> tuple[str, ...]:
    """The lines of one state of a file."""
    data = read_regular(file, MAX_SOURCE_BYTES)
    encoding = "utf-8"
    # Of the encodings that a comment can name, some take quadratic time.
    if not is_claim:
        with suppress(SyntaxError):  # it names one that does not exist, or is not text
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    try:
        text = data.decode(encoding, errors="replace")
    except (LookupError, UnicodeError):  # a codec that makes no text, or does not replace
        text = data.decode("utf-8", errors="replace")
    return lines_of(text)


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text, as Python and editors count them, without their ends."""
    # Not splitlines(): for Python, and for MLIR, U+2028 and its like do not end a line.
    lines = text.replace("\0", "\ufffd").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return tuple(lines if lines[-1] else lines[:-1])
